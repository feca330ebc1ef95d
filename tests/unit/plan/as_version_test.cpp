#include "plan/as_version.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "plan/make_plan.hpp"
#include "support/give.hpp"

using namespace cpplan;
using plan::Version;
using test::give;

namespace {

struct Sizes {
  Index world, tp, cp;
};

config::TrainingConfig training(Sizes sizes) {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, 1);
  give(c.batch.gradient_accumulation_steps, 4);
  give(c.batch.sequence_len, 4096);
  give(c.batch.num_epochs, 3);
  give(c.parallel.tensor_parallel_size, sizes.tp);
  give(c.parallel.context_parallel_size, sizes.cp);
  return c;
}

plan::PlanInputs inputs_of(Sizes sizes, Version version) {
  plan::PlanInputs inputs;
  inputs.world_size = sizes.world;
  inputs.as = version;
  return inputs;
}

constexpr Sizes sixteen{16, 2, 4};  // DP is 2, so that a step takes 8 rows

}  // namespace

TEST_CASE("as: names are read and written") {
  for (const std::string& name : plan::version_names()) {
    CAPTURE(name);
    REQUIRE(plan::parse_version(name));
    CHECK(plan::to_string(*plan::parse_version(name)) == name);
  }
  CHECK(plan::parse_version("axolotl") == Version::axolotl_0_15);
  CHECK_FALSE(plan::parse_version("axolotl@0.1"));
}

TEST_CASE("as: on the plain path only the batch was wrong") {
  struct Row {
    Version version;
    Index batch_size;
    double steps;
  };
  for (const auto& [version, batch_size, steps] : {Row{Version::axolotl_0_14, 64, 375},
                                                   {Version::axolotl_3444, 16, 375},
                                                   {Version::axolotl_0_15, 8, 375},
                                                   {Version::megatron, 8, 375}}) {
    auto inputs = inputs_of(sixteen, version);
    inputs.train_rows = 1000;
    const auto as = *plan::make_plan(training(sixteen), inputs, {}).as_version;
    CAPTURE(as.version);
    CHECK(as.batch_size == batch_size);
    CHECK(as.total_num_steps == steps);
    CHECK(as.right_steps == 375);
    CHECK(*as.epochs == doctest::Approx(3));
  }
}

TEST_CASE("as: Megatron throws the last batch away") {
  auto inputs = inputs_of(sixteen, Version::megatron);
  inputs.train_rows = 1001;
  const auto as = *plan::make_plan(training(sixteen), inputs, {}).as_version;
  CHECK(as.right_steps == 376);
  CHECK(as.total_num_steps == 375);
}

TEST_CASE("as: an estimate that is floored before it is multiplied makes other epochs") {
  auto c = training(sixteen);
  give(c.batch.sample_packing, true);
  give(c.batch.sample_packing_eff_est, 0.9);
  auto inputs = inputs_of(sixteen, Version::axolotl_0_14);
  inputs.total_tokens = 4'000'000;
  // 0.99 * 4e6 / 0.9 / 4096 = 1074.2: // 64 = 16, // 16 = 67, // 8 = 134.
  const auto old = *plan::make_plan(c, inputs, {}).as_version;
  CHECK(old.total_num_steps == (16 - 1) * 3 * 8);
  CHECK(old.right_steps == (134 - 1) * 3);
  inputs.as = Version::axolotl_3444;
  CHECK(plan::make_plan(c, inputs, {}).as_version->total_num_steps == (67 - 1) * 3 * 2);
  // 360 steps of 8 rows of 0.9 * 4096 tokens of 4,000,000.
  CHECK(*old.epochs == doctest::Approx(360 * 8 * 0.9 * 4096 / 4e6));
  CHECK(old.verdict ==
        "batch_size 64 is 8 times the 8 rows that a step takes; 360 steps differ from the right "
        "399 by -39; a run of them makes 2.654 of 3 epochs");
}

TEST_CASE("as: measured packing floors the loader before it is multiplied") {
  auto c = training(sixteen);
  give(c.batch.sample_packing, true);
  give(c.batch.curriculum_sampling, true);
  give(c.features.flash_attention, true);
  auto inputs = inputs_of(sixteen, Version::axolotl_0_14);
  inputs.lengths = std::make_shared<data::RowLengths>(
      data::RowLengths{std::vector<data::Length>(100, 4000), data::LengthUnit::tokens, ""});
  const auto planned = plan::make_plan(c, inputs, {});
  CHECK(planned.steps.total_num_steps == 36);        // 100 bins // 8 = 12
  CHECK(planned.as_version->total_num_steps == 24);  // 100 // 64 = 1, * 3 epochs * CP 4 * TP 2
  CHECK(*planned.as_version->epochs == doctest::Approx(24 * 8 / 100.0));
}

TEST_CASE("as: max_steps ends the run of every version") {
  auto c = training(sixteen);
  give(c.batch.max_steps, 10);
  auto inputs = inputs_of(sixteen, Version::axolotl_0_14);
  inputs.train_rows = 1000;
  CHECK(plan::make_plan(c, inputs, {}).as_version->total_num_steps == 10);
}
