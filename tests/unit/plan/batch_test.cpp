#include "plan/batch.hpp"

#include <doctest/doctest.h>

#include "plan/make_plan.hpp"
#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

config::TrainingConfig micro_and_accumulation(Index micro, Index accumulation) {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, micro);
  give(c.batch.gradient_accumulation_steps, accumulation);
  return c;
}

plan::Batch batch_of(const config::TrainingConfig& c, Index world) {
  plan::PlanInputs inputs;
  inputs.world_size = world;
  return plan::make_plan(c, inputs, {}).batch;
}

}  // namespace

TEST_CASE("batch: neither CP nor TP nor PP multiplies it") {
  struct Row {
    Index world, tp, cp, pp, batch_size;
  };
  for (const auto& [world, tp, cp, pp, batch_size] : {Row{4, 1, 1, 1, 32},
                                                      {4, 1, 2, 1, 16},
                                                      {4, 1, 4, 1, 8},
                                                      {2, 1, 2, 1, 8},
                                                      {4, 2, 1, 1, 16},
                                                      {4, 4, 1, 1, 8},
                                                      {2, 2, 1, 1, 8},
                                                      {8, 1, 2, 2, 16}}) {
    CAPTURE(world);
    CAPTURE(tp);
    CAPTURE(cp);
    auto c = micro_and_accumulation(2, 4);
    give(c.parallel.tensor_parallel_size, tp);
    give(c.parallel.context_parallel_size, cp);
    give(c.parallel.pipeline_parallel_size, pp);
    const auto batch = batch_of(c, world);
    CHECK(batch.batch_size == batch_size);
    CHECK(batch.effective_world_size == world / (tp * cp * pp));
    CHECK(batch.tokens_per_step == batch_size * 512);
  }
}

TEST_CASE("batch: a written batch_size counts for each data-parallel rank") {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, 2);
  give(c.batch.batch_size, 64);
  const auto batch = batch_of(c, 4);
  CHECK(batch.gradient_accumulation_steps == 1);
  CHECK(batch.batch_size == 256);
  CHECK(plan::rows_per_step(batch) == 8);
}

TEST_CASE("batch: null accumulation is batch_size over micro_batch_size rounded down") {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, 4);
  give(c.batch.batch_size, 10);
  give(c.batch.gradient_accumulation_steps, 0);
  c.batch.gradient_accumulation_steps.value.reset();
  const auto batch = batch_of(c, 1);
  CHECK(batch.gradient_accumulation_steps == 2);
  CHECK(batch.batch_size == 10);
}

TEST_CASE("batch: a product beyond 64 bits is no number") {
  const auto batch = batch_of(micro_and_accumulation(Index{1} << 32, Index{1} << 32), 2);
  CHECK(batch.batch_size == 0);
  CHECK(batch.tokens_per_step == 0);
  CHECK_FALSE(plan::rows_per_step(batch));
}

TEST_CASE("batch: a global batch is reached or its neighbours are named") {
  const auto batch = batch_of(micro_and_accumulation(2, 1), 8);
  CHECK(plan::reach_global_batch(batch, 64).gradient_accumulation_steps == 4);
  const auto missed = plan::reach_global_batch(batch, 100);
  CHECK_FALSE(missed.gradient_accumulation_steps);
  CHECK(missed.nearest == std::vector<Index>{96, 112});
  CHECK(plan::reach_global_batch(batch, 3).nearest == std::vector<Index>{16});
}
