#include "plan/points.hpp"

#include <doctest/doctest.h>

#include "plan/steps.hpp"
#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

/// 10,000 rows over 3 epochs of 313 steps: 938 in all.
plan::Steps counted(const config::TrainingConfig& c) {
  plan::PlanInputs inputs;
  inputs.train_rows = 10'000;
  plan::Batch batch;
  batch.micro_batch_size = 2;
  batch.gradient_accumulation_steps = 2;
  batch.effective_world_size = 8;
  batch.batch_size = 32;
  return plan::count_steps(c, inputs, batch, 8);
}

config::TrainingConfig three_epochs() {
  config::TrainingConfig c;
  give(c.batch.num_epochs, 3);
  return c;
}

using Places = std::vector<Index>;

}  // namespace

TEST_CASE("points: without a word a run saves every epoch and at its end and evaluates never") {
  const auto steps = counted(three_epochs());
  CHECK(steps.steps_per_epoch == 313);
  CHECK(steps.saves.strategy == "epoch");
  CHECK(steps.saves.steps == Places{313, 626, 938});
  CHECK(steps.evals.strategy == "no");
  CHECK(steps.evals.count == 0);
}

TEST_CASE("points: saves of an epoch are a share of the run rounded up") {
  auto c = three_epochs();
  give(c.batch.saves_per_epoch, 1);
  CHECK(counted(c).saves.interval == 313);  // ceil(938 / 3)
  CHECK(counted(c).saves.steps == Places{313, 626, 938});
  give(c.batch.saves_per_epoch, 2);
  CHECK(counted(c).saves.interval == 157);  // ceil(938 / 6)
  CHECK(counted(c).saves.count == 6);       // 157 .. 785, and the end
}

TEST_CASE("points: a share of 1 and more is dropped") {
  config::TrainingConfig c;  // one epoch
  give(c.batch.saves_per_epoch, 1);
  CHECK(counted(c).saves.strategy == "epoch");
  give(c.batch.saves_per_epoch, 4);
  CHECK(counted(c).saves.interval == 79);  // ceil(313 / 4)
}

TEST_CASE("points: steps are taken as they are and shares rounded up") {
  auto c = three_epochs();
  give(c.batch.save_steps, 400);
  CHECK(counted(c).saves.steps == Places{400, 800, 938});
  give(c.batch.save_steps, 0.25);
  CHECK(counted(c).saves.interval == 235);
}

TEST_CASE("points: evaluation needs validation rows and is not forced at the end") {
  auto c = three_epochs();
  give(c.batch.evals_per_epoch, 2);
  CHECK(counted(c).evals.strategy == "no");
  give(c.batch.val_set_size, 0.1);
  CHECK(counted(c).evals.interval == 157);
  CHECK(counted(c).evals.steps == Places{157, 314, 471, 628, 785});
}

TEST_CASE("points: max_steps moves the points") {
  auto c = three_epochs();
  give(c.batch.max_steps, 100);
  give(c.batch.saves_per_epoch, 1);
  CHECK(counted(c).saves.interval == 34);
  CHECK(counted(c).saves.steps == Places{34, 68, 100});
}

TEST_CASE("points: of many the first thousand are listed and all counted") {
  auto c = three_epochs();
  give(c.batch.max_steps, 5000);
  give(c.batch.save_steps, 1);
  const auto saves = counted(c).saves;
  CHECK(saves.count == 5000);
  CHECK(saves.steps.size() == 1000);
}
