#include "cluster/hardware.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace cpplan::cluster {
namespace {

HardwareProfile measured_machine() {
  HardwareProfile machine;
  machine.name = "this machine";
  machine.sources = {"measured by cpplan bench"};
  machine.cores = machine.devices_per_node = 2;
  machine.flops_per_second = {{Precision::fp32, 1e11}};
  machine.bytes_per_second = 2e10;
  machine.seconds_per_op = 1e-7;
  machine.node.message = *Curve::through({{8, 1e-6}, {1 << 20, 1e-4}});
  machine.node.sum = *Curve::through({{8, 2e-6}, {1 << 20, 3e-4}});
  machine.transfers = Transfers::by_the_rank;
  machine.ops["gemm"].curves = {
      {16, *Curve::through({{1000, 1e-6}, {1e6, 1e-4}}), *Curve::through({{1000, 2e-6}})},
      {256, *Curve::through({{1000, 5e-7}, {1e6, 2e-5}}), {}}};
  machine.ops["add"].curves = {{0, *Curve::through({{4096, 3e-7}}), {}}};
  return machine;
}

}  // namespace

TEST_CASE("curve: lines through points go on beyond them and shrink below") {
  const auto curve = *Curve::through({{100, 2.0}, {200, 3.0}, {400, 4.0}});
  CHECK(curve(100) == doctest::Approx(2));
  CHECK(curve(150) == doctest::Approx(2.5));
  CHECK(curve(300) == doctest::Approx(3.5));
  CHECK(curve(800) == doctest::Approx(6));
  CHECK(curve(75) == doctest::Approx(1.5));
  CHECK(curve(1) == doctest::Approx(1));
  const auto line = Curve::line(5, 10);
  CHECK(line(0) == doctest::Approx(5));
  CHECK(line(30) == doctest::Approx(8));
}

TEST_CASE("curve: points that are none are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(Curve::through({}));
  CHECK_FALSE(Curve::through({{2, 1.0}, {1, 2.0}}));
  CHECK_FALSE(Curve::through({{1, 1.0}, {1, 2.0}}));
  CHECK_FALSE(Curve::through({{1, 0.0}}));
  CHECK_FALSE(Curve::through({{1, nan}}));
}

TEST_CASE("hardware: the GPUs of the data sheets are found by their names") {
  for (const char* name : {"A100-40GB", "A100-80GB", "H100-80GB", "H200", "B200"}) {
    CAPTURE(name);
    const auto profile = find_hardware(name);
    REQUIRE(profile);
    CHECK(profile->name == name);
    CHECK(profile->peak(Precision::bf16) > 3e14);
    CHECK(profile->peak(Precision::fp32) < profile->peak(Precision::bf16));
    CHECK(profile->network.has_value());
    CHECK(profile->node.message(1e9) < profile->network->message(1e9));
    CHECK_FALSE(profile->sources.empty());
    for (const auto& [what, share] : profile->efficiency) {
      CHECK(share > 0.3);
      CHECK(share <= 1);
    }
  }
  CHECK(find_hardware("NVIDIA H100 80GB HBM3")->name == "H100-80GB");
  CHECK_FALSE(find_hardware("abacus"));
  CHECK_FALSE(find_hardware(""));
  CHECK(hardware_names().size() == 5);
}

TEST_CASE("hardware: an op on a data sheet is bound by arithmetic or by memory") {
  const auto h100 = *find_hardware("h100");
  const double flops = 1e13, bytes = 1e8;
  const OpWork product{.op = "gemm", .flops = flops, .bytes = bytes};
  CHECK(h100.seconds_of(product) == doctest::Approx(3e-6 + flops / (989.4e12 * 0.8)));
  const OpWork add{.op = "add", .flops = 1e8, .bytes = 1.2e9};
  CHECK(h100.seconds_of(add) == doctest::Approx(3e-6 + 1.2e9 / (3.35e12 * 0.9)));
}

TEST_CASE("hardware: a measured op goes by its curves") {
  const auto machine = measured_machine();
  OpWork work{.op = "gemm", .flops = 1e6, .bytes = 1, .inner = 16};
  CHECK(machine.seconds_of(work) == doctest::Approx(1e-4));
  work.inner = 64;  // half way between 16 and 256
  CHECK(machine.seconds_of(work) == doctest::Approx(6e-5));
  work.inner = 4000;
  CHECK(machine.seconds_of(work) == doctest::Approx(2e-5));
  work.inner = 16, work.flops = 1000, work.neighbours = Neighbours::busy;
  CHECK(machine.seconds_of(work) == doctest::Approx(2e-6));
  CHECK(machine.seconds_of({.op = "add", .bytes = 8192}) == doctest::Approx(6e-7));
}

TEST_CASE("hardware: a profile reads back as it was written") {
  for (const auto& profile : {measured_machine(), *find_hardware("B200")}) {
    const auto again = hardware_from(to_json(profile));
    REQUIRE(again);
    CHECK(to_json(*again).dump() == to_json(profile).dump());
    CHECK(again->transfers == profile.transfers);
    CHECK(again->cores == profile.cores);
  }
}

TEST_CASE("hardware: a file that is no profile is refused by the path of what it lacks") {
  CHECK_FALSE(hardware_from(Json::object()));
  Json json = to_json(measured_machine());
  json["compute"]["bytes_per_second"] = "fast";
  const auto wrong = hardware_from(json);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("compute.bytes_per_second") != std::string::npos);
  json = to_json(measured_machine());
  json["ops"]["gemm"] = Json::Array{Json::Object{{"inner", 1}, {"alone", Json::Array{Json(1)}}}};
  CHECK_FALSE(hardware_from(json));
  json = to_json(measured_machine());
  json["compute"]["flops_per_second"]["fp32"] = 0;
  CHECK_FALSE(hardware_from(json));
}

}  // namespace cpplan::cluster
