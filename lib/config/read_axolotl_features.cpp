// axolotl's keys that decide which paths the framework takes: sharding, attention, adapters,
// quantisation, preference training.
#include "config/read_sections.hpp"

namespace cpplan::config {
namespace {

/// The settings of `section` under their names and under those with the old prefix fsdp_.
template <class T>
void read_prefixed(Setting<T>& setting, const Section& section, const std::string& name) {
  section.read(setting, "fsdp_" + name);
  section.read(setting, name);
}

void read_fsdp(FeatureSettings& f, const Section& root) {
  root.read_presence(f.fsdp, "fsdp");
  root.read_presence(f.fsdp, "fsdp_config");
  const Section fsdp = root.below("fsdp_config");
  read_prefixed(f.fsdp_offload_params, fsdp, "offload_params");
  read_prefixed(f.fsdp_reshard_after_forward, fsdp, "reshard_after_forward");
  read_prefixed(f.fsdp_state_dict_type, fsdp, "state_dict_type");
  read_prefixed(f.fsdp_auto_wrap_policy, fsdp, "auto_wrap_policy");
  read_prefixed(f.fsdp_sharding_strategy, fsdp, "sharding_strategy");
  read_prefixed(f.fsdp_activation_checkpointing, fsdp, "activation_checkpointing");
  read_prefixed(f.fsdp_cpu_ram_efficient_loading, fsdp, "cpu_ram_efficient_loading");
  fsdp.read(f.fsdp_version, "version");
  fsdp.read(f.fsdp_version, "fsdp_version");
  root.read(f.fsdp_version, "fsdp_version");
}

void read_attention(FeatureSettings& f, const Section& root) {
  root.read(f.attn_implementation, "attn_implementation");
  root.read(f.flash_attention, "flash_attention");
  root.read(f.sdp_attention, "sdp_attention");
  root.read(f.xformers_attention, "xformers_attention");
  root.read(f.flex_attention, "flex_attention");
  root.read(f.sage_attention, "sage_attention");
  root.read(f.eager_attention, "eager_attention");
  root.read(f.heads_k_stride, "heads_k_stride");
  root.read(f.ring_attn_func, "ring_attn_func");
}

void read_precision(FeatureSettings& f, const Section& root) {
  root.read(f.load_in_8bit, "load_in_8bit");
  root.read(f.load_in_4bit, "load_in_4bit");
  root.read(f.gptq, "gptq");
  root.read_presence(f.qat, "qat");
  root.read_word(f.bf16, "bf16");
  root.read_word(f.fp16, "fp16");
  root.read_word(f.bfloat16, "bfloat16");
  root.read_word(f.gradient_checkpointing, "gradient_checkpointing");
  root.read_word(f.activation_offloading, "activation_offloading");
  root.read_presence(f.torch_compile, "torch_compile");
}

void read_plugins(FeatureSettings& f, const Section& root) {
  root.read(f.plugins, "plugins");
  root.read(f.cut_cross_entropy, "cut_cross_entropy");
  for (const std::string_view kernel :
       {"liger_fused_linear_cross_entropy", "liger_cross_entropy", "liger_rope", "liger_rms_norm",
        "liger_layer_norm", "liger_glu_activation", "liger_swiglu"})
    if (!f.liger.value_or(false)) root.read(f.liger, kernel);
}

/// Named by the class of the model; the framework never packs rows for one.
void read_mamba(FeatureSettings& f, const Section& root) {
  Setting<std::string> type;
  root.read(type, "model_type");
  if (!type.given() || !type.value->starts_with("Mamba")) return;
  f.mamba.value = true;
  f.mamba.span = type.span, f.mamba.key_span = type.key_span, f.mamba.key = type.key;
}

}  // namespace

FeatureSettings read_features(const Section& root) {
  FeatureSettings f;
  read_fsdp(f, root);
  root.read_presence(f.deepspeed, "deepspeed");
  root.read(f.deepspeed_config, "deepspeed");
  read_attention(f, root);
  read_precision(f, root);
  read_plugins(f, root);
  root.read(f.adapter, "adapter");
  root.read(f.rl, "rl");
  root.read(f.ddp, "ddp");
  root.read(f.ddp_timeout, "ddp_timeout");
  root.read(f.use_ray, "use_ray");
  root.read(f.reward_model, "reward_model");
  root.read(f.process_reward_model, "process_reward_model");
  read_mamba(f, root);
  root.read_presence(f.pretraining_dataset, "pretraining_dataset");
  root.read_presence(f.test_datasets, "test_datasets");
  root.read_presence(f.multimodal, "processor_type");
  return f;
}

AdapterSettings read_adapter(const Section& root) {
  AdapterSettings a;
  root.read(a.lora_r, "lora_r");
  root.read(a.lora_alpha, "lora_alpha");
  root.read(a.lora_dropout, "lora_dropout");
  root.read(a.lora_target_modules, "lora_target_modules");
  root.read(a.lora_modules_to_save, "lora_modules_to_save");
  root.read(a.lora_target_linear, "lora_target_linear");
  root.read(a.lora_fan_in_fan_out, "lora_fan_in_fan_out");
  root.read(a.use_dora, "peft_use_dora");
  root.read(a.use_rslora, "peft_use_rslora");
  root.read(a.lora_model_dir, "lora_model_dir");
  return a;
}

RlSettings read_rl(const Section& root) {
  RlSettings r;
  const Section trl = root.below("trl");
  trl.read(r.num_generations, "num_generations");
  trl.read(r.max_completion_length, "max_completion_length");
  trl.read(r.use_vllm, "use_vllm");
  trl.read(r.vllm_mode, "vllm_mode");
  const Section vllm = root.below("vllm");
  vllm.read(r.vllm_tensor_parallel_size, "tensor_parallel_size");
  vllm.read(r.vllm_data_parallel_size, "data_parallel_size");
  return r;
}

}  // namespace cpplan::config
