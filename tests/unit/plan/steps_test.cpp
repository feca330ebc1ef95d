#include "plan/steps.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

plan::Batch batch_of(Index size) {
  plan::Batch batch;
  batch.batch_size = size;
  return batch;
}

plan::PlanInputs train_rows(Index rows) {
  plan::PlanInputs inputs;
  inputs.train_rows = rows;
  return inputs;
}

}  // namespace

TEST_CASE("steps: max_steps below the data ends the run") {
  config::TrainingConfig c;
  give(c.batch.num_epochs, 3);
  give(c.batch.max_steps, 100);
  const auto steps = plan::count_steps(c, train_rows(10'000), batch_of(32));
  CHECK(steps.total_num_steps == 100);
  CHECK(steps.trainer_max_steps == 100);
  CHECK(steps.path == "max_steps");
  CHECK(steps.formula == "ceil(10000 rows * 3 epochs / 32) = 938; min(938, max_steps 100) = 100");
}

TEST_CASE("steps: max_steps above the data is what the trainer runs") {
  config::TrainingConfig c;
  give(c.batch.num_epochs, 3);
  give(c.batch.max_steps, 2000);
  const auto steps = plan::count_steps(c, train_rows(10'000), batch_of(32));
  CHECK(steps.total_num_steps == 938);
  CHECK(steps.trainer_max_steps == 2000);
  CHECK(steps.path == "plain");
}

TEST_CASE("steps: max_steps of 0 and below count as unset") {
  for (const Index unset : {0, -1, -5}) {
    config::TrainingConfig c;
    give(c.batch.max_steps, unset);
    CHECK(plan::count_steps(c, train_rows(320), batch_of(32)).total_num_steps == 10);
  }
}

TEST_CASE("steps: without rows only max_steps gives a count") {
  config::TrainingConfig c;
  CHECK_FALSE(plan::count_steps(c, {}, batch_of(32)).total_num_steps);
  give(c.batch.max_steps, 7);
  CHECK(plan::count_steps(c, {}, batch_of(32)).total_num_steps == 7);
}

TEST_CASE("steps: a stream takes max_steps") {
  config::TrainingConfig c;
  give(c.batch.streaming, true);
  give(c.batch.max_steps, 10);
  const auto steps = plan::count_steps(c, train_rows(1000), batch_of(32));
  CHECK(steps.total_num_steps == 10);
  CHECK(steps.path == "streaming");
}

TEST_CASE("steps: packed rows are not counted by the plain formula") {
  config::TrainingConfig c;
  give(c.batch.sample_packing, true);
  const auto steps = plan::count_steps(c, train_rows(1000), batch_of(32));
  CHECK(steps.path == "packing (measured)");
  CHECK_FALSE(steps.total_num_steps);
}

TEST_CASE("steps: learning rate at four points") {
  config::TrainingConfig c;
  give(c.optimizer.learning_rate, 1e-3);
  give(c.optimizer.warmup_steps, 10);
  const auto steps = plan::count_steps(c, train_rows(3200), batch_of(32));
  REQUIRE(steps.learning_rates.size() == 4);
  CHECK(steps.learning_rates[0].value == 0);
  CHECK(steps.learning_rates[1].step == 11);
  CHECK(steps.learning_rates[1].value == 1e-3);
  CHECK(steps.learning_rates[2].step == 50);
  CHECK(steps.learning_rates[3].step == 100);
  CHECK(steps.learning_rates[3].value < 1e-6);
}

TEST_CASE("steps: preference training counts its epochs whatever max_steps says") {
  config::TrainingConfig c;
  give(c.features.rl, std::string("dpo"));
  give(c.batch.sample_packing, true);  // an error elsewhere, and no packing path here
  give(c.batch.max_steps, 3);
  const auto steps = plan::count_steps(c, train_rows(320), batch_of(32));
  CHECK(steps.path == "plain");
  CHECK(steps.total_num_steps == 10);
  CHECK(steps.trainer_max_steps == 3);
}

TEST_CASE("steps: on-policy training is counted by its trainer alone") {
  config::TrainingConfig c;
  give(c.features.rl, std::string("grpo"));
  give(c.rl.num_generations, 8);
  give(c.batch.num_epochs, 2);
  const auto steps = plan::count_steps(c, train_rows(103), batch_of(32));
  CHECK_FALSE(steps.upstream_value);
  CHECK(steps.steps_per_epoch == 25);  // 103 prompts // (32 // 8)
  CHECK(steps.total_num_steps == 50);
  CHECK(steps.warmup_steps == 2);  // ceil(0.03 * 50)
  give(c.batch.max_steps, 7);
  CHECK(plan::count_steps(c, train_rows(103), batch_of(32)).trainer_max_steps == 7);
}

TEST_CASE("steps: gdpo is counted as plain") {
  config::TrainingConfig c;
  give(c.features.rl, std::string("gdpo"));
  CHECK(plan::count_steps(c, train_rows(320), batch_of(32)).upstream_value == 10);
}

TEST_CASE("steps: epochs that are really made") {
  config::TrainingConfig c;
  give(c.batch.num_epochs, 3);
  give(c.batch.max_steps, 2000);
  auto batch = batch_of(32);
  batch.micro_batch_size = 2;
  batch.gradient_accumulation_steps = 2;
  batch.effective_world_size = 8;
  CHECK(plan::count_steps(c, train_rows(10'000), batch).epochs == 6.4);
}

TEST_CASE("steps: each number says how it came about") {
  config::TrainingConfig c;
  give(c.batch.val_set_size, 0.1);
  plan::PlanInputs inputs;
  inputs.rows = 1000;
  const auto steps = plan::count_steps(c, inputs, batch_of(8));
  std::string text;
  for (const auto& [name, formula] : steps.formulas) text += name + ": " + formula + "\n";
  CHECK(text ==
        "batch_size: 1 rows * 1 accumulated * 1 data-parallel ranks = 8\n"
        "train_rows: 1000 rows - ceil(0.1 * 1000) = 1000 - 100 = 900\n"
        "total_num_steps: ceil(900 rows * 1 epochs / 8) = 113\n"
        "warmup_steps: min(int(0.03 * 113), 100) = 3\n"
        "save_steps: at the end of an epoch of 900 steps\n");
}
