// axolotl's memory settings: what its trainer, accelerate, PEFT and DeepSpeed keep.
#include <algorithm>

#include "plan/deepspeed_config.hpp"
#include "plan/framework_sharding.hpp"
#include "plan/memory_optimizer.hpp"
#include "plan/memory_settings.hpp"
#include "plan/sequence.hpp"

namespace cpplan::plan {
namespace {

using config::FeatureSettings;

bool says_no(const config::Setting<std::string>& setting) {
  return setting.given() && (*setting == "false" || *setting == "no" || *setting == "off");
}

bool is_on(const config::Setting<std::string>& setting) {
  return setting.given() && !(*setting).empty() && !says_no(setting);
}

/// The type that the weights are loaded in: bf16 defaults to "auto", which every GPU of the table
/// has since Ampere.
Index loaded_bytes(const FeatureSettings& f) {
  const bool half = is_on(f.fp16) || is_on(f.bfloat16) || is_on(f.bf16) || !says_no(f.bf16);
  return half ? 2 : 4;
}

Index optimizer_bytes(MemorySettings& m, Index weight_bytes) {
  if (const auto bytes = optimizer_state_bytes(m.optimizer, weight_bytes)) return *bytes;
  m.assumptions.push_back("two states a parameter, as the optimizer \"" + m.optimizer +
                          "\" is not known");
  return 2 * weight_bytes;
}

/// accelerate keeps what FSDP trains in fp32 and computes in bf16 (accelerator.py,
/// fsdp2_prepare_model): weight, gradient and states are sharded in fp32.
void read_fsdp(const Plan& plan, MemorySettings& m) {
  const auto& f = plan.config.features;
  m.state = {4, 4, optimizer_bytes(m, 4)};
  const FrameworkSharding framework = framework_sharding(plan);
  m.sharding = framework.sharding;
  m.keeps_gathered = framework.keeps_gathered;
  m.sharding_name = "FSDP";
  m.shards = std::max<Index>(1, plan.layout.dp_shard * m.cp);
  m.expert_shards = m.shards;
  m.offloads_weights = m.offloads_optimizer = is_on(f.fsdp_offload_params);
}

/// bf16 weights and gradients, and a fp32 master copy beside the states (bf16_optimizer.py,
/// stage_1_and_2.py, stage3.py).
void read_deepspeed_states(const Plan& plan, MemorySettings& m) {
  const auto& path = plan.config.features.deepspeed_config;
  const auto read = path.given() ? read_deepspeed(*path) : std::nullopt;
  if (!read)
    m.assumptions.emplace_back(
        "ZeRO stage 0, as neither the name nor the content of the DeepSpeed "
        "config says another");
  const DeepSpeed ds = read.value_or(DeepSpeed{});
  const Index loaded = loaded_bytes(plan.config.features);
  m.state = {loaded, loaded, (loaded < 4 ? 4 : 0) + optimizer_bytes(m, 4)};
  m.sharding = framework_sharding(plan).sharding;
  m.sharding_name = "ZeRO-" + std::to_string(ds.stage);
  m.shards = std::max<Index>(1, m.dp * m.cp);
  m.expert_shards = m.shards;
  m.offloads_optimizer = ds.offloads_optimizer;
  m.offloads_weights = ds.offloads_parameters;
}

/// Weights, gradients and states all of the loaded type; DistributedDataParallel copies gradients
/// into buckets (gradient_as_bucket_view is off).
void read_ddp(const Plan& plan, MemorySettings& m) {
  const Index loaded = loaded_bytes(plan.config.features);
  m.state = {loaded, loaded, optimizer_bytes(m, loaded)};
  m.sharding_name = "DDP";
  m.reduces_in_buckets = m.dp * m.cp > 1;
}

/// One text with the marks of a regular expression, which PEFT matches against whole names.
bool is_pattern(const std::vector<std::string>& targets) {
  return targets.size() == 1 && targets.front().find_first_of("\\[(*|+?") != std::string::npos;
}

void read_targets(const config::AdapterSettings& a, MemorySettings& m) {
  if (is_on(a.lora_target_linear) || !a.lora_target_modules.given()) return;
  if (is_pattern(*a.lora_target_modules))
    m.assumptions.emplace_back(
        "adapters on all linear layers, as lora_target_modules is a pattern");
  else
    m.adapter.targets = *a.lora_target_modules;
}

/// PEFT trains adapters in fp32 (autocast_adapter_dtype) on frozen weights of the loaded type.
void read_adapter(const Plan& plan, MemorySettings& m) {
  const auto& name = plan.config.features.adapter;
  if (!name.given() || (*name != "lora" && *name != "qlora")) return;
  const auto& a = plan.config.adapter;
  if (!a.lora_r.given()) m.assumptions.emplace_back("lora_r 8, as PEFT's default");
  m.adapter.rank = std::max<Index>(1, a.lora_r.value_or(8));
  read_targets(a, m);
  if (a.lora_modules_to_save.given()) m.adapter.saved = *a.lora_modules_to_save;
  const auto& f = plan.config.features;
  if (*name == "qlora" || is_on(f.load_in_4bit)) m.adapter.quantization = Quantization::four_bit;
  if (is_on(f.load_in_8bit)) m.adapter.quantization = Quantization::eight_bit;
  m.adapter_state = {4, 4, optimizer_bytes(m, 4)};
  m.state.weight = loaded_bytes(f);
}

bool lists(const config::Setting<std::vector<std::string>>& plugins, std::string_view name) {
  return plugins.given() && std::ranges::any_of(*plugins, [&](const std::string& plugin) {
           return plugin.find(name) != std::string::npos;
         });
}

/// The plug-in of Cut Cross-Entropy is on where it is listed
/// (integrations/cut_cross_entropy/args.py).
bool cuts_cross_entropy(const FeatureSettings& f) {
  return f.cut_cross_entropy.value_or(lists(f.plugins, "CutCrossEntropyPlugin"));
}

void read_loss(const FeatureSettings& f, MemorySettings& m) {
  const bool liger = is_on(f.liger) && f.liger.key.ends_with("liger_fused_linear_cross_entropy");
  m.loss = cuts_cross_entropy(f) || liger ? Loss::fused_linear : Loss::whole_logits;
}

void read_recompute(const FeatureSettings& f, MemorySettings& m) {
  const bool offloads = f.gradient_checkpointing.value_or("").starts_with("offload") ||
                        is_on(f.activation_offloading);
  if (is_on(f.gradient_checkpointing) || is_on(f.fsdp_activation_checkpointing))
    m.recompute.what = Recompute::full;
  m.recompute.offloads_inputs = offloads && m.recompute.what == Recompute::full;
}

bool has_fused_attention(const FeatureSettings& f) {
  const bool eager = f.attn_implementation.value_or("") == "eager" || is_on(f.eager_attention);
  return !eager;
}

void read_degrees(const Plan& plan, MemorySettings& m) {
  const auto& dims = plan.layout.dims;
  m.tp = dims.tp, m.cp = dims.cp, m.pp = dims.pp, m.dp = dims.dp;
  m.experts = {std::max<Index>(1, plan.layout.ep), 1, std::max<Index>(1, m.dp / plan.layout.ep)};
  m.sequence_parallel = false;  // Hugging Face's tp_plan cuts no norms
}

}  // namespace

MemorySettings axolotl_memory_settings(const Plan& plan) {
  const auto& f = plan.config.features;
  MemorySettings m;
  m.framework = "axolotl";
  m.optimizer = plan.config.optimizer.optimizer.value_or("adamw_torch_fused");
  read_degrees(plan, m);
  if (is_on(f.fsdp))
    read_fsdp(plan, m);
  else if (is_on(f.deepspeed))
    read_deepspeed_states(plan, m);
  else
    read_ddp(plan, m);
  read_adapter(plan, m);
  m.activation_bytes = loaded_bytes(f);
  m.gather_bytes = m.activation_bytes;
  m.head_gradient_bytes = m.activation_bytes;
  m.fused_attention = has_fused_attention(f);
  const auto& ring = f.ring_attn_func;
  const bool gathers = ring.value_or(is_on(plan.config.batch.sample_packing) ? "varlen_llama3" : "")
                           .starts_with("varlen_llama3");
  m.exchange = gathers ? ContextExchange::all_gather : ContextExchange::ring;
  read_loss(f, m);
  read_recompute(f, m);
  m.micro_batches = plan.batch.gradient_accumulation_steps;
  if (!is_on(plan.config.batch.sample_packing) && !is_on(plan.config.batch.pad_to_sequence_len))
    m.assumptions.emplace_back("every row is as long as sequence_len");
  if (plan.model) m.vocabulary = plan.model->vocab_size;
  return m;
}

}  // namespace cpplan::plan
