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

TEST_CASE("steps: one ceiling over all epochs in doubles") {
  CHECK(plan::plain_steps(1000, 1.0, 16) == 63);
  CHECK(plan::plain_steps(52002, 3.0, 64) == 2438);
  CHECK(plan::plain_steps(9, 3.0, 4) == 7);
  CHECK(plan::plain_steps(50, 1.1, 1) == 56);  // 50 * 1.1 = 55.00000000000001
  CHECK(plan::plain_steps(0, 1.0, 1) == 0);
}

TEST_CASE("steps: what is no count is no number") {
  CHECK_FALSE(plan::plain_steps(100, -1.0, 4));
  CHECK_FALSE(plan::plain_steps(100, std::nan(""), 4));
  CHECK_FALSE(plan::plain_steps(100, 1e300, 4));
  CHECK_FALSE(plan::plain_steps(100, 1.0, 0));
}

TEST_CASE("steps: validation takes its rows first") {
  CHECK(plan::split_rows(1000, 0.05).train == 950);
  CHECK(plan::split_rows(1000, 0.05).eval == 50);
  CHECK(plan::split_rows(334, 0.1).eval == 34);
  CHECK(plan::split_rows(1000, 200).train == 800);
  CHECK(plan::split_rows(1000, 0).train == 1000);
}

TEST_CASE("steps: a shard is taken before the split") {
  config::TrainingConfig c;
  give(c.batch.dataset_shard_num, 3);
  plan::PlanInputs inputs;
  inputs.rows = 1000;
  CHECK(plan::count_steps(c, inputs, batch_of(8)).train_rows == 1000);
  give(c.batch.dataset_shard_idx, 0);
  give(c.batch.val_set_size, 0.1);
  const auto steps = plan::count_steps(c, inputs, batch_of(8));
  CHECK(steps.rows_after_shard == 334);
  CHECK(steps.train_rows == 300);
  CHECK(steps.total_num_steps == 38);
  CHECK(plan::shard_rows(1000, 3, 2) == 333);
}

TEST_CASE("steps: a split that leaves nothing is none") {
  for (const double v : {1.0, -0.1, 1000.0, 5000.0, std::nan("")}) {
    CAPTURE(v);
    CHECK_FALSE(plan::split_rows(1000, v).train);
  }
}

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
  CHECK(steps.path == "packing");
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
