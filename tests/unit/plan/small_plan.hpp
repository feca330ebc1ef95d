#pragma once
// A config that the engine runs in no time, and its plan.
#include "plan/make_plan.hpp"
#include "support/give.hpp"

namespace cpplan::test {

inline config::TrainingConfig with_degrees(Index tp, Index cp, Index pp) {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, 1);
  give(c.batch.gradient_accumulation_steps, 4);
  give(c.batch.sequence_len, 512);
  give(c.parallel.tensor_parallel_size, tp);
  give(c.parallel.context_parallel_size, cp);
  give(c.parallel.pipeline_parallel_size, pp);
  return c;
}

inline config::TrainingConfig small_model(Index tp, Index cp, Index pp) {
  auto c = with_degrees(tp, cp, pp);
  give(c.model.hidden_size, 256);
  give(c.model.num_hidden_layers, 4);
  give(c.model.num_attention_heads, 8);
  give(c.model.num_key_value_heads, 4);
  give(c.model.intermediate_size, 512);
  give(c.model.vocab_size, 512);
  return c;
}

inline plan::Plan planned(const config::TrainingConfig& c, Index world) {
  plan::PlanInputs inputs;
  inputs.world_size = world;
  return plan::make_plan(c, inputs, {});
}

}  // namespace cpplan::test
