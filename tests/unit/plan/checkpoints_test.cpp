#include "plan/checkpoints.hpp"

#include <doctest/doctest.h>

#include "support/give.hpp"

using namespace cpplan;
using plan::Checkpoints;
using test::give;

namespace {

plan::Steps saving_every(Index interval) {
  plan::Steps steps;
  steps.saves.interval = interval;
  return steps;
}

config::TrainingConfig with_interval() {
  config::TrainingConfig c;
  c.file = "jobs/train.yaml";
  give(c.batch.save_steps, 20.0);
  return c;
}

}  // namespace

TEST_CASE("checkpoints: a config asks with a folder and an interval") {
  auto c = with_interval();
  CHECK_FALSE(plan::checkpoints_of(c, {}, saving_every(20)));
  give(c.checkpoint.folder, "out");
  const auto found = plan::checkpoints_of(c, {}, saving_every(20));
  REQUIRE(found);
  CHECK(found->folder == "out");
  CHECK(found->interval == 20);
  CHECK(found->keep == std::nullopt);
  CHECK(found->start == Checkpoints::Start::initial);
}

TEST_CASE("checkpoints: limits of axolotl and Megatron say which ones stay") {
  auto c = with_interval();
  give(c.checkpoint.folder, "out");
  const auto kept = [&] { return *plan::checkpoints_of(c, {}, saving_every(20)); };
  give(c.batch.save_total_limit, 0);  // no limit, as in Hugging Face's Trainer
  CHECK(kept().keep == std::nullopt);
  give(c.batch.save_total_limit, 3);
  CHECK(kept().keep == 3);
  CHECK(kept().retain_interval == std::nullopt);
  give(c.megatron.save_retain_interval, 100);
  CHECK(kept().keep == 1);
  CHECK(kept().retain_interval == 100);
}

TEST_CASE("checkpoints: a stand-in for the run leaves the folder alone but for a flag") {
  auto c = with_interval();
  give(c.checkpoint.folder, "out");
  plan::PlanInputs inputs;
  inputs.synthetic = true;
  CHECK_FALSE(plan::checkpoints_of(c, inputs, saving_every(20)));
  inputs.save_every = 7;
  CHECK(plan::checkpoints_of(c, inputs, saving_every(20))->interval == 7);
}

TEST_CASE("checkpoints: without a folder they are named after the config") {
  plan::PlanInputs inputs;
  inputs.resume = true;
  const auto found = plan::checkpoints_of(with_interval(), inputs, saving_every(20));
  REQUIRE(found);
  CHECK(found->folder == "train.checkpoints");
  CHECK(found->start == Checkpoints::Start::newest);
  CHECK(found->start_folder == found->folder);
}

TEST_CASE("checkpoints: a named one is itself and Megatron's load is a folder of them") {
  config::TrainingConfig c;
  give(c.checkpoint.resume_from, "old/step-20");
  const auto named = plan::checkpoints_of(c, {}, {});
  REQUIRE(named);
  CHECK(named->start == Checkpoints::Start::named);
  CHECK(named->start_folder == "old/step-20");
  CHECK(named->interval == std::nullopt);
  c.dialect = config::Dialect::megatron;
  CHECK(plan::checkpoints_of(c, {}, {})->start == Checkpoints::Start::newest);
}
