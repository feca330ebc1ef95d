// Megatron-LM's memory settings. Names in brackets are functions of megatron/ and of
// megatron/training/arguments.py.
#include <algorithm>

#include "base/checked_count.hpp"
#include "plan/framework_sharding.hpp"
#include "plan/megatron_batch.hpp"
#include "plan/megatron_stages.hpp"
#include "plan/memory_settings.hpp"

namespace cpplan::plan {
namespace {

using config::MegatronSettings;

Index at_least_one(Index n) {
  return std::max<Index>(1, n);
}

/// Weights as trained, gradients in their buffer (fp32 unless grad_reduce_in_bf16), and what the
/// optimizer adds: a master copy where weights are of half precision, and the moments.
void read_states(const MegatronSettings& s, MemorySettings& m) {
  const bool half = is_on(s.bf16) || is_on(s.fp16);
  const bool sgd = m.optimizer == "sgd";
  const Index moments = sgd ? 4 : 8;
  m.state = half ? StateBytes{2, is_on(s.grad_reduce_in_bf16) ? 2 : 4, 4 + moments}
                 : StateBytes{4, 4, moments};
  m.activation_bytes = half ? 2 : 4;
  m.gather_bytes = m.activation_bytes;
  m.head_gradient_bytes = 4;
  m.offloads_optimizer = is_on(s.optimizer_cpu_offload);
  if (!half) m.assumptions.emplace_back("fp32, as neither bf16 nor fp16 is given");
}

/// The distributed optimizer shares its states over DP and CP [DistributedOptimizer], experts over
/// the ranks that hold the same ones.
void read_sharding(const Plan& plan, MemorySettings& m) {
  const MegatronSettings& s = plan.config.megatron;
  const FrameworkSharding framework = framework_sharding(plan);
  m.sharding = framework.sharding;
  const bool fsdp = is_on(s.use_torch_fsdp2) || is_on(s.use_megatron_fsdp);
  m.sharding_name = fsdp ? "FSDP" : "distributed optimizer";
  if (m.sharding == Sharding::none) return;
  m.shards = at_least_one(m.dp * m.cp / framework.replicate);
  m.expert_shards = at_least_one(m.experts.dp / framework.replicate);
}

void read_experts(const Plan& plan, MemorySettings& m) {
  m.experts.ep = at_least_one(plan.config.parallel.expert_parallel_size.value_or(1));
  m.experts.tp = at_least_one(plan.config.megatron.expert_tensor_parallel_size.value_or(m.tp));
  const auto block = checked_product(m.experts.ep, m.experts.tp, m.pp);
  const auto world = checked_product(m.tp, m.cp, m.pp, m.dp);
  m.experts.dp = block && world ? at_least_one(*world / *block) : 1;
}

bool names(const config::Setting<std::vector<std::string>>& list, std::string_view word) {
  return list.given() && std::ranges::count(*list, word) > 0;
}

/// full: "uniform" keeps the input of every recompute_num_layers, "block" recomputes so many layers
/// of a stage and keeps the rest whole [TransformerBlock::_checkpointed_forward].
RecomputeSettings read_recompute(const MegatronSettings& s) {
  RecomputeSettings r;
  const std::string granularity = s.recompute_granularity.value_or("");
  const Index layers = std::max<Index>(0, s.recompute_num_layers.value_or(1));
  if (granularity == "full") {
    r.what = Recompute::full;
    const bool block = s.recompute_method.value_or("uniform") == "block";
    if (block) r.layers = layers;
    if (!block) r.layers_a_unit = at_least_one(layers);
    if (block && layers == 0) r.what = Recompute::none;
  } else if (granularity == "selective") {
    r.what = Recompute::selective;
    r.mlp = names(s.recompute_modules, "mlp");
    r.layer_norms = names(s.recompute_modules, "layernorm");
  }
  return r;
}

ContextExchange read_exchange(const Plan& plan) {
  const auto& list = plan.config.megatron.cp_comm_type;
  const bool listed = list.given() && !(*list).empty();
  const std::string type = listed ? (*list).front() : plan.config.run.cp_comm_type.value_or("p2p");
  if (type == "all_gather") return ContextExchange::all_gather;
  return type == "a2a" ? ContextExchange::all_to_all : ContextExchange::ring;
}

void read_model(const Plan& plan, MemorySettings& m) {
  const auto& model = *plan.model;
  m.virtual_stages =
      at_least_one(virtual_stages(plan.config, model.num_hidden_layers, m.pp).value_or(1));
  m.vocabulary = padded_vocab_size(plan.config, m.tp).value_or(model.vocab_size);
  if (plan.config.megatron.mtp_num_layers.value_or(0) > 0)
    m.assumptions.emplace_back("layers for multi-token prediction are left out");
}

}  // namespace

MemorySettings megatron_memory_settings(const Plan& plan) {
  const auto& s = plan.config.megatron;
  const auto& dims = plan.layout.dims;
  MemorySettings m;
  m.framework = "megatron";
  m.tp = dims.tp, m.cp = dims.cp, m.pp = dims.pp, m.dp = dims.dp;
  m.sequence_parallel = dims.sequence_parallel;
  m.optimizer = plan.config.optimizer.optimizer.value_or("adam");
  read_experts(plan, m);
  read_states(s, m);
  read_sharding(plan, m);
  const bool local = s.transformer_impl.value_or("transformer_engine") == "local";
  m.fused_attention = !local || is_on(s.use_flash_attention);
  m.loss = Loss::vocab_parallel;
  m.exchange = read_exchange(plan);
  m.recompute = read_recompute(s);
  m.micro_batches = plan.batch.gradient_accumulation_steps;
  if (plan.model) read_model(plan, m);
  return m;
}

}  // namespace cpplan::plan
