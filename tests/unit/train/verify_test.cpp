#include "train/verify.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "plan/make_plan.hpp"
#include "support/give.hpp"

using namespace cpplan;
using namespace cpplan::train;
using test::give;

namespace {

config::TrainingConfig packed_config() {
  config::TrainingConfig c;
  give(c.model.base_model, "tiny");
  give(c.model.hidden_size, 32);
  give(c.model.num_hidden_layers, 4);
  give(c.model.num_attention_heads, 4);
  give(c.model.num_key_value_heads, 2);
  give(c.model.intermediate_size, 48);
  give(c.model.vocab_size, 257);  // padded over TP
  give(c.model.attention_dropout, 0.1);
  give(c.model.hidden_dropout, 0.1);
  give(c.batch.sequence_len, 48);
  give(c.batch.sample_packing, true);
  give(c.batch.micro_batch_size, 1);
  give(c.batch.gradient_accumulation_steps, 2);
  give(c.batch.max_steps, 3);
  give(c.optimizer.learning_rate, 1e-3);
  give(c.optimizer.warmup_steps, 2);
  return c;
}

Verification verified(const config::TrainingConfig& config, Index world,
                      const VerifyListener& listener = {}) {
  plan::PlanInputs inputs;
  inputs.world_size = world;
  const auto plan = plan::make_plan(config, inputs, {});
  const auto data = load_training_data(plan, DataKind::synthetic);
  REQUIRE(data);
  const auto run = make_training_run(plan, *data, {});
  REQUIRE_MESSAGE(run, run.error().message);
  auto verification = verify(*run, StepLimit(Seconds(60)), listener);
  REQUIRE_MESSAGE(verification, verification.error().message);
  return *verification;
}

}  // namespace

TEST_CASE("verify: a layout trains as one rank does") {
  auto config = packed_config();
  give(config.parallel.tensor_parallel_size, 2);
  give(config.parallel.context_parallel_size, 2);
  give(config.parallel.pipeline_parallel_size, 2);
  give(config.run.schedule, "interleaved");
  std::vector<Index> seen;
  const auto v = verified(config, 16, [&](Index done) { seen.push_back(done); });
  CHECK_MESSAGE(v.broken().empty(), v.worst().parameter);
  CHECK(v.gradients.size() == 3 + 9 * 4);
  CHECK(seen == std::vector<Index>{1, 2, 3, 4, 5, 6});
  CHECK(v.in_layout.losses.size() == 3);
  for (const auto& gradient : v.gradients) CHECK(gradient.norm > 0);
}

TEST_CASE("verify: the worst parameter is told by its name") {
  auto v = verified(packed_config(), 2);
  CHECK(v.broken().empty());
  const std::string name = "model.layers.2.mlp.up_proj.weight";
  for (auto& gradient : v.gradients)
    if (gradient.parameter == name) gradient.distance = 0.23;
  CHECK(v.worst().parameter == name);
  REQUIRE(v.broken().size() == 1);
  CHECK(v.broken()[0] == "the gradient of " + name + " is off by 0.23 of its norm, bound 1e-05");
  v.in_layout.losses[1] *= 1.001;
  CHECK(v.broken().size() == 2);
  v.gradients[0].distance = std::numeric_limits<double>::quiet_NaN();
  CHECK(v.worst().parameter == v.gradients[0].parameter);
}
