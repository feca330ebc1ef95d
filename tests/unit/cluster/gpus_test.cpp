#include "cluster/gpus.hpp"

#include <doctest/doctest.h>

using namespace cpplan;

namespace {

std::string called(std::string_view name) {
  const auto gpu = cluster::find_gpu(name);
  return gpu ? std::string(gpu->name) : "";
}

}  // namespace

TEST_CASE("gpus: what drivers and people call them") {
  CHECK(called("H100") == "H100-80GB");
  CHECK(called("NVIDIA H100 80GB HBM3") == "H100-80GB");
  CHECK(called("h100_nvl_94gb") == "H100-94GB");
  CHECK(called("H200") == "H200");
  CHECK(called("H20") == "H20");
  CHECK(called("A100-SXM4-40GB") == "A100-40GB");
  CHECK(called("a100") == "A100-80GB");
  CHECK(called("A10G") == "A10G");
  CHECK(called("A10") == "A10");
  CHECK(called("GB200") == "GB200");
  CHECK(called("b200") == "B200");
  CHECK(called("L40S") == "L40S");
  CHECK(called("L4") == "L4");
  CHECK(called("NVIDIA GeForce RTX 4090") == "RTX-4090");
  CHECK(called("RTX 6000 Ada") == "RTX-6000-Ada");
  CHECK(called("Tesla V100-SXM2-32GB") == "V100-32GB");
}

TEST_CASE("gpus: an unknown name has no memory") {
  for (const char* name : {"", "abacus", "gpu", "100"}) CHECK(called(name).empty());
}

TEST_CASE("gpus: a program gets a little less than the name says") {
  constexpr double gib = 1024.0 * 1024 * 1024;
  for (const auto& [name, nominal] : {std::pair{"A100-40GB", 40.0},
                                      {"A100-80GB", 80.0},
                                      {"H100", 80.0},
                                      {"H200", 141.0},
                                      {"L40S", 48.0},
                                      {"RTX 4090", 24.0},
                                      {"T4", 16.0}}) {
    CAPTURE(name);
    const double usable = static_cast<double>(cluster::find_gpu(name)->usable.count) / gib;
    CHECK(usable < nominal);
    CHECK(usable > 0.9 * nominal);
  }
}
