// Megatron's arguments about what stays in memory and what overlaps: precision, the optimizer's
// sharding, recomputation, offloading.
#include "config/read_megatron.hpp"

namespace cpplan::config {
namespace {

void read_precision(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.bf16, "bf16");
  a.read(m.fp16, "fp16");
  a.read_word(m.fp8_format, "fp8");
  a.read_word(m.fp8_format, "fp8_format");
  a.read(m.accumulate_in_fp32, "accumulate_allreduce_grads_in_fp32");
  a.read(m.grad_reduce_in_bf16, "grad_reduce_in_bf16");
  a.read(m.gradient_accumulation_fusion, "gradient_accumulation_fusion");
  a.read_inverted(m.gradient_accumulation_fusion, "no_gradient_accumulation_fusion");
}

void read_sharding(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.use_distributed_optimizer, "use_distributed_optimizer");
  a.read(m.use_torch_fsdp2, "use_torch_fsdp2");
  a.read(m.use_megatron_fsdp, "use_custom_fsdp");
  a.read(m.use_megatron_fsdp, "use_megatron_fsdp");
  a.read_word(m.data_parallel_sharding_strategy, "data_parallel_sharding_strategy");
  a.read_word(m.ckpt_format, "ckpt_format");
  a.read(m.overlap_grad_reduce, "overlap_grad_reduce");
  a.read(m.overlap_param_gather, "overlap_param_gather");
  a.read(m.overlap_param_gather_with_optimizer_step, "overlap_param_gather_with_optimizer_step");
  a.read(m.overlap_moe_a2a, "overlap_moe_expert_parallel_comm");
  a.read(m.calculate_per_token_loss, "calculate_per_token_loss");
}

void read_recomputation(MegatronSettings& m, const MegatronArguments& a) {
  a.read_word(m.recompute_granularity, "recompute_granularity");
  a.read_word(m.recompute_method, "recompute_method");
  a.read(m.recompute_num_layers, "recompute_num_layers");
  a.read(m.recompute_modules, "recompute_modules");
  a.read(m.distribute_saved_activations, "distribute_saved_activations");
  a.read(m.cpu_offloading, "cpu_offloading");
  a.read(m.optimizer_cpu_offload, "optimizer_cpu_offload");
}

/// --recompute-activations is the short form of --recompute-granularity selective.
void read_short_form(MegatronSettings& m, const MegatronArguments& a) {
  Setting<bool> activations;
  a.read(activations, "recompute_activations");
  if (!activations.value_or(false)) return;
  m.recompute_granularity = {"selective", activations.span, activations.key_span, activations.key};
}

}  // namespace

void read_megatron_memory(TrainingConfig& config, const MegatronArguments& arguments) {
  MegatronSettings& m = config.megatron;
  read_precision(m, arguments);
  read_sharding(m, arguments);
  read_recomputation(m, arguments);
  read_short_form(m, arguments);
}

}  // namespace cpplan::config
