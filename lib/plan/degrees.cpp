#include "plan/degrees.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace cpplan::plan {
namespace {

Index at_least_one(const config::Setting<Index>& setting) {
  return std::max<Index>(1, setting.value_or(1));
}

/// a / b where it is whole, else 1.
Index exact_quotient(Index a, Index b) {
  return a % b == 0 ? a / b : 1;
}

bool splits(const config::Setting<Index>& setting) {
  return setting.given() && *setting > 1;
}

/// In Megatron expert ranks are data-parallel ranks, and what is sharded are optimizer states.
DataParallel fill_as_megatron(const config::TrainingConfig& config, Index dp) {
  const auto& m = config.megatron;
  DataParallel filled;
  filled.dp = dp;
  filled.ep = at_least_one(config.parallel.expert_parallel_size);
  const bool shards = m.use_distributed_optimizer.value_or(false) ||
                      m.use_megatron_fsdp.value_or(false) || m.use_torch_fsdp2.value_or(false);
  filled.shard =
      shards ? exact_quotient(dp, at_least_one(m.num_distributed_optimizer_instances)) : 1;
  filled.replicate = dp / filled.shard;
  return filled;
}

}  // namespace

const config::Setting<Index>& context_parallel_setting(const config::TrainingConfig& config) {
  const auto& p = config.parallel;
  const bool unset = p.context_parallel_size.value_or(0) == 0;
  return unset && p.sequence_parallel_degree.given() ? p.sequence_parallel_degree
                                                     : p.context_parallel_size;
}

Degrees requested_degrees(const config::TrainingConfig& config) {
  return {at_least_one(config.parallel.tensor_parallel_size),
          at_least_one(context_parallel_setting(config)),
          at_least_one(config.parallel.pipeline_parallel_size)};
}

std::optional<Index> model_parallel_size(const Degrees& d) {
  return checked_product(d.tp, d.cp, d.pp);
}

DataParallel fill_data_parallel(const config::TrainingConfig& config, Index dp) {
  if (config.dialect == config::Dialect::megatron) return fill_as_megatron(config, dp);
  const auto& p = config.parallel;
  DataParallel filled;
  filled.dp = dp;
  filled.ep = at_least_one(p.expert_parallel_size);
  filled.replicate = at_least_one(p.dp_replicate_size);
  filled.shard = at_least_one(p.dp_shard_size);
  const Index rest = exact_quotient(dp, filled.ep);
  const bool fsdp = config.features.fsdp.value_or(false);

  if (splits(p.dp_shard_size)) {
    if (!splits(p.dp_replicate_size)) filled.replicate = exact_quotient(rest, filled.shard);
  } else if (splits(p.dp_replicate_size)) {
    if (fsdp) filled.shard = exact_quotient(rest, filled.replicate);
  } else if (!p.dp_shard_size.given() || fsdp) {
    filled.shard = rest;  // also without FSDP, and over an explicit 1 with it
  }
  return filled;
}

}  // namespace cpplan::plan
