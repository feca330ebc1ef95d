// How the engine shards what a config's framework does.
#include "plan/engine_data_parallel.hpp"

#include <doctest/doctest.h>

#include "engine/meta_run.hpp"
#include "plan/make_plan.hpp"
#include "support/give.hpp"

using namespace cpplan;
using engine::Sharding;

namespace {

constexpr Index world = 8;

engine::DataParallelSettings settings_of(const config::TrainingConfig& config) {
  plan::PlanInputs inputs;
  inputs.world_size = world;
  const auto settings = plan::data_parallel_of(plan::make_plan(config, inputs, {}));
  REQUIRE(settings);
  return *settings;
}

config::TrainingConfig axolotl() {
  config::TrainingConfig config;
  config.batch.sequence_len.value = 64;
  config.batch.micro_batch_size.value = 1;
  return config;
}

config::TrainingConfig fsdp() {
  auto config = axolotl();
  config.features.fsdp.value = true;
  return config;
}

config::TrainingConfig megatron() {
  config::TrainingConfig config;
  config.dialect = config::Dialect::megatron;
  config.megatron.form = config::MegatronForm::flat;
  config.batch.sequence_len.value = 64;
  config.batch.micro_batch_size.value = 1;
  config.megatron.global_batch_size.value = world;
  return config;
}

}  // namespace

TEST_CASE("engine sharding: plain data parallelism overlaps as PyTorch's does") {
  const auto settings = settings_of(axolotl());
  CHECK(settings.sharding == Sharding::none);
  CHECK(settings.overlap_gradients);
}

TEST_CASE("engine sharding: FSDP 2 shards parameters and says whether they stay whole") {
  auto config = fsdp();
  config.features.fsdp_version.value = 2;
  CHECK(settings_of(config).sharding == Sharding::parameters);
  CHECK(settings_of(config).reshard_after_forward);
  CHECK(settings_of(config).replicate == 1);
  config.features.fsdp_reshard_after_forward.value = false;
  CHECK_FALSE(settings_of(config).reshard_after_forward);
  config.parallel.dp_replicate_size.value = 4;
  CHECK(settings_of(config).replicate == 4);
}

TEST_CASE("engine sharding: FSDP 1 by its strategies") {
  auto config = fsdp();
  const auto strategy = [&](const char* name) {
    test::give(config.features.fsdp_sharding_strategy, name);
    return settings_of(config);
  };
  CHECK(strategy("FULL_SHARD").sharding == Sharding::parameters);
  CHECK(strategy("FULL_SHARD").reshard_after_forward);
  CHECK(strategy("SHARD_GRAD_OP").sharding == Sharding::parameters);
  CHECK_FALSE(strategy("SHARD_GRAD_OP").reshard_after_forward);
  CHECK(strategy("NO_SHARD").sharding == Sharding::none);
  config.cluster.nodes.value = 2;
  config.cluster.gpus_per_node.value = 4;
  plan::PlanInputs inputs;
  const auto hybrid = [&](const char* name) {
    test::give(config.features.fsdp_sharding_strategy, name);
    return plan::data_parallel_of(plan::make_plan(config, inputs, {})).value();
  };
  CHECK(hybrid("HYBRID_SHARD").replicate == 2);
  CHECK(hybrid("HYBRID_SHARD").reshard_after_forward);
  CHECK_FALSE(hybrid("HYBRID_SHARD_ZERO2").reshard_after_forward);
  CHECK(hybrid("FULL_SHARD").replicate == 1);
}

TEST_CASE("engine sharding: DeepSpeed's stages") {
  auto config = axolotl();
  config.features.deepspeed.value = true;
  const auto of = [&](const char* name) {
    test::give(config.features.deepspeed_config, name);
    return settings_of(config).sharding;
  };
  CHECK(of("deepspeed_configs/zero1.json") == Sharding::optimizer);
  CHECK(of("deepspeed_configs/zero2.json") == Sharding::optimizer);
  CHECK(of("deepspeed_configs/zero3_bf16.json") == Sharding::parameters);
  CHECK(of("ds.json") == Sharding::none);
}

TEST_CASE("engine sharding: Megatron's distributed optimizer and its FSDP") {
  auto config = megatron();
  CHECK(settings_of(config).sharding == Sharding::none);
  CHECK_FALSE(settings_of(config).overlap_gradients);
  config.megatron.use_distributed_optimizer.value = true;
  config.megatron.overlap_grad_reduce.value = true;
  CHECK(settings_of(config).sharding == Sharding::optimizer);
  CHECK(settings_of(config).overlap_gradients);
  CHECK_FALSE(settings_of(config).overlap_parameters);
  config.megatron.overlap_param_gather.value = true;
  CHECK(settings_of(config).overlap_parameters);
  config.megatron.num_distributed_optimizer_instances.value = 2;
  CHECK(settings_of(config).replicate == 2);
  config.megatron.use_torch_fsdp2.value = true;
  CHECK(settings_of(config).sharding == Sharding::parameters);
  test::give(config.megatron.data_parallel_sharding_strategy, "optim_grads");
  CHECK(settings_of(config).sharding == Sharding::optimizer);
}

TEST_CASE("engine sharding: cpplan.run decides over the framework") {
  auto config = fsdp();
  test::give(config.run.optimizer_sharding, "optimizer");
  CHECK(settings_of(config).sharding == Sharding::optimizer);
  test::give(config.run.optimizer_sharding, "none");
  CHECK(settings_of(config).sharding == Sharding::none);
}

TEST_CASE(
    "engine sharding: what is not known or does not divide is refused with a value that works") {
  auto config = axolotl();
  test::give(config.run.optimizer_sharding, "os");
  plan::PlanInputs inputs;
  inputs.world_size = world;
  auto refused = plan::data_parallel_of(plan::make_plan(config, inputs, {}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message() ==
        "optimizer_sharding \"os\" is not known (the engine has none, optimizer and parameters). "
        "use optimizer_sharding: none");
  config = megatron();
  config.megatron.use_distributed_optimizer.value = true;
  config.megatron.num_distributed_optimizer_instances.value = 3;
  refused = plan::data_parallel_of(plan::make_plan(config, inputs, {}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().help == "use num_distributed_optimizer_instances: 1");
}

TEST_CASE("engine sharding: the traffic of many micro-batches is that of running each") {
  struct Row {
    Index pp, chunks;
    const char* sharding;
  };
  for (const auto& [pp, chunks, sharding] : {Row{1, 1, "parameters"},
                                             {2, 1, "parameters"},
                                             {4, 1, "parameters"},
                                             {2, 2, "parameters"},
                                             {4, 1, "optimizer"}}) {
    CAPTURE(pp);
    CAPTURE(chunks);
    auto config = axolotl();
    config.model.hidden_size.value = config.model.intermediate_size.value = 64;
    config.model.num_hidden_layers.value = 8;
    config.model.num_attention_heads.value = config.model.num_key_value_heads.value = 4;
    config.model.vocab_size.value = 256;
    config.parallel.pipeline_parallel_size.value = pp;
    config.run.virtual_stages.value = chunks;
    config.batch.gradient_accumulation_steps.value = 24;
    test::give(config.run.optimizer_sharding, sharding);
    plan::PlanInputs inputs;
    inputs.world_size = world;
    auto plan = plan::make_plan(config, inputs, {});
    plan::measure_engine(plan);
    const auto job = plan::make_job(plan);
    REQUIRE(job);
    const auto footprint = engine::meta_run(*job, {});
    const auto& rows_of_rank_0 = plan.engine_communication->classes.front().traffic;
    REQUIRE(rows_of_rank_0.size() == footprint.traffic.size());
    for (const auto& row : rows_of_rank_0) {
      CAPTURE(row.group);
      CAPTURE(row.collective);
      const auto& traffic = footprint.traffic.at({row.group, row.collective});
      CHECK(row.bytes == traffic.sent);
      CHECK(row.messages == traffic.messages);
    }
  }
}
