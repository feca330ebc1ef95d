#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "plan/deepspeed_config.hpp"
#include "plan/memory_optimizer.hpp"

using namespace cpplan;
namespace fs = std::filesystem;

namespace {

std::optional<plan::DeepSpeed> of_file(std::string_view text) {
  const fs::path path =
      fs::temp_directory_path() / ("cpplan-zero2-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << text;
  const auto read = plan::read_deepspeed(path.string());
  fs::remove(path);
  return read;
}

}  // namespace

TEST_CASE("deepspeed: the file decides over its name") {
  const auto read = of_file(R"({"zero_optimization": {"stage": 3,
      "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "none"}}})");
  REQUIRE(read);
  CHECK(read->stage == 3);
  CHECK(read->offloads_optimizer);
  CHECK_FALSE(read->offloads_parameters);
}

TEST_CASE("deepspeed: without zero_optimization nothing is shared") {
  CHECK(of_file("{}")->stage == 0);
}

TEST_CASE("deepspeed: a file that says no stage is not guessed") {
  for (const char* text :
       {"{", R"({"zero_optimization": {}})", R"({"zero_optimization": {"stage": "auto"}})"})
    CHECK_FALSE(of_file(text));
}

TEST_CASE("deepspeed: a file that is not here is known by axolotl's names") {
  CHECK(plan::read_deepspeed("deepspeed_configs/zero1.json")->stage == 1);
  CHECK(plan::read_deepspeed("/x/zero2_torch_compile.json")->stage == 2);
  const auto all = plan::read_deepspeed("zero3_bf16_cpuoffload_all.json");
  CHECK(all->offloads_parameters);
  CHECK(all->offloads_optimizer);
  for (const char* name : {"", "ds.json", "zero.json", "zero9.json", "zero"})
    CHECK_FALSE(plan::read_deepspeed(name));
}

TEST_CASE("optimizers: states take the type of the weight unless they have their own") {
  CHECK(plan::optimizer_state_bytes("adamw_torch", 2) == 4);
  CHECK(plan::optimizer_state_bytes("adamw_torch", 4) == 8);
  CHECK(plan::optimizer_state_bytes("paged_adamw_32bit", 2) == 8);
  CHECK(plan::optimizer_state_bytes("lion_8bit", 4) == 1);
  CHECK(plan::optimizer_state_bytes("sgd", 4) == 0);
  CHECK_FALSE(plan::optimizer_state_bytes("adamm", 4));
}
