#include "plan/framework_sharding.hpp"

#include <algorithm>

#include "plan/deepspeed_config.hpp"

namespace cpplan::plan {
namespace {
using config::Setting;

/// FSDP 1 names what it shards (torch.distributed.fsdp.ShardingStrategy, also by number); FSDP 2
/// shards all and says whether parameters stay whole after forward.
FrameworkSharding fsdp_sharding(const Plan& plan) {
  const auto& f = plan.config.features;
  const std::string strategy = f.fsdp_sharding_strategy.value_or("FULL_SHARD");
  const auto is = [&](std::string_view name, std::string_view number) {
    return strategy == name || strategy == number;
  };
  FrameworkSharding s{.overlaps_gradients = true, .span = f.fsdp.span};
  s.sharding = is("NO_SHARD", "3") ? Sharding::none : Sharding::parameters;
  s.keeps_gathered = is("SHARD_GRAD_OP", "2") || is("HYBRID_SHARD_ZERO2", "5") ||
                     !f.fsdp_reshard_after_forward.value_or(true);
  s.replicate = plan.layout.dp_replicate;
  s.replicate_span = plan.config.parallel.dp_replicate_size.span;
  const bool hybrid = is("HYBRID_SHARD", "4") || is("HYBRID_SHARD_ZERO2", "5");
  const Index nodes = std::max<Index>(1, plan.world.nodes.value_or(1));
  const bool even = plan.layout.dims.dp % nodes == 0;
  if (hybrid && s.replicate == 1 && even) s.replicate = nodes;  // shards stay within a node
  return s;
}

FrameworkSharding deepspeed_sharding(const Plan& plan) {
  const auto& f = plan.config.features;
  const auto read = f.deepspeed_config.given() ? read_deepspeed(*f.deepspeed_config) : std::nullopt;
  const Index stage = read ? std::clamp<Index>(read->stage, 0, 3) : 0;
  return {.sharding = static_cast<Sharding>(stage),
          .overlaps_gradients = true,
          .span = f.deepspeed.span};
}

/// Of either FSDP that Megatron can use; the whole model is cut unless it says otherwise.
Sharding megatron_fsdp_sharding(const config::MegatronSettings& m) {
  const std::string strategy = m.data_parallel_sharding_strategy.value_or(
      is_on(m.use_torch_fsdp2) ? "optim_grads_params" : "no_shard");
  if (strategy == "optim") return Sharding::optimizer;
  if (strategy == "optim_grads") return Sharding::gradients;
  return strategy == "optim_grads_params" ? Sharding::parameters : Sharding::none;
}

FrameworkSharding megatron_sharding(const config::MegatronSettings& m) {
  FrameworkSharding s{
      .overlaps_gradients = is_on(m.overlap_grad_reduce),
      .overlaps_parameters = is_on(m.overlap_param_gather),
      .replicate = std::max<Index>(1, m.num_distributed_optimizer_instances.value_or(1)),
      .replicate_span = m.num_distributed_optimizer_instances.span,
      .replicate_key = "num_distributed_optimizer_instances"};
  const bool fsdp = is_on(m.use_torch_fsdp2) || is_on(m.use_megatron_fsdp);
  if (fsdp) {
    s.sharding = megatron_fsdp_sharding(m);
    s.overlaps_gradients = s.overlaps_gradients || s.sharding == Sharding::parameters;
    s.span = is_on(m.use_torch_fsdp2) ? m.use_torch_fsdp2.span : m.use_megatron_fsdp.span;
  } else if (is_on(m.use_distributed_optimizer)) {
    s.sharding = Sharding::optimizer;
    s.span = m.use_distributed_optimizer.span;
  }
  return s;
}

}  // namespace

FrameworkSharding framework_sharding(const Plan& plan) {
  const auto& config = plan.config;
  if (config.dialect == config::Dialect::megatron) return megatron_sharding(config.megatron);
  if (is_on(config.features.fsdp)) return fsdp_sharding(plan);
  if (is_on(config.features.deepspeed)) return deepspeed_sharding(plan);
  // DistributedDataParallel reduces buckets as they fill.
  return {.overlaps_gradients = true,
          .replicate = plan.layout.dp_replicate,
          .replicate_span = config.parallel.dp_replicate_size.span};
}

}  // namespace cpplan::plan
