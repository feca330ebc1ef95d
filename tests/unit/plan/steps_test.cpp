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
