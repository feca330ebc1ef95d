#include <algorithm>
#include <array>
#include <string>

#include "config/schema.hpp"

namespace cpplan::config {
namespace {

using enum Kind;

constexpr std::string_view cp_comm_types = "p2p|all_gather|a2a|a2a+p2p";

constexpr std::array own_top_level = {
    KeyInfo{"cp_comm_type", choices, Null::unsets, cp_comm_types},
    KeyInfo{"cpplan", mapping},
    KeyInfo{"data_parallel_size", integer},
    KeyInfo{"num_layers_in_first_pipeline_stage", integer},
    KeyInfo{"num_layers_in_last_pipeline_stage", integer},
    KeyInfo{"pipeline_parallel_size", integer},
};

constexpr std::array sections = {
    KeyInfo{"cluster", mapping},
    KeyInfo{"launch", mapping},
    KeyInfo{"model", mapping},
    KeyInfo{"run", mapping},
};

// Hugging Face's config.json names.
constexpr std::array model = {
    KeyInfo{"architectures", list},
    KeyInfo{"attention_bias", boolean},
    KeyInfo{"attention_dropout", real},
    KeyInfo{"head_dim", integer},
    KeyInfo{"hidden_act", text},
    KeyInfo{"hidden_dropout", real},
    KeyInfo{"hidden_size", integer},
    KeyInfo{"initializer_range", real},
    KeyInfo{"intermediate_size", integer},
    KeyInfo{"max_position_embeddings", integer},
    KeyInfo{"model_type", text},
    KeyInfo{"moe_intermediate_size", integer},
    KeyInfo{"num_attention_heads", integer},
    KeyInfo{"num_experts_per_tok", integer},
    KeyInfo{"num_hidden_layers", integer},
    KeyInfo{"num_key_value_heads", integer},
    KeyInfo{"num_local_experts", integer},
    KeyInfo{"rms_norm_eps", real},
    KeyInfo{"rope_parameters", mapping},
    KeyInfo{"rope_scaling", mapping},
    KeyInfo{"rope_theta", real},
    KeyInfo{"sliding_window", integer},
    KeyInfo{"tie_word_embeddings", boolean},
    KeyInfo{"torch_dtype", text},
    KeyInfo{"vocab_size", integer},
};

constexpr std::array rope = {
    KeyInfo{"attention_factor", real},
    KeyInfo{"beta_fast", real},
    KeyInfo{"beta_slow", real},
    KeyInfo{"factor", real},
    KeyInfo{"high_freq_factor", real},
    KeyInfo{"low_freq_factor", real},
    KeyInfo{"original_max_position_embeddings", integer},
    KeyInfo{"rope_theta", real},
    KeyInfo{"rope_type", text},
    KeyInfo{"type", text},
};

constexpr std::array cluster = {
    KeyInfo{"account", text},     KeyInfo{"constraint", text},
    KeyInfo{"gpu", text},         KeyInfo{"gpus_per_node", integer},
    KeyInfo{"hardware", text},    KeyInfo{"nodes", integer},
    KeyInfo{"partition", text},   KeyInfo{"qos", text},
    KeyInfo{"reservation", text}, KeyInfo{"time", text},
};

constexpr std::array run = {
    KeyInfo{"backend", choice, Null::unsets, "auto|cpu|cuda"},
    KeyInfo{"cp_comm_type", choices, Null::unsets, cp_comm_types},
    KeyInfo{"cp_gradient_dtype", choice, Null::unsets, "fp32|bf16"},
    KeyInfo{"dtype", choice, Null::unsets, "fp32|bf16|fp64"},
    KeyInfo{"hierarchical_context_parallel_sizes", list},
    KeyInfo{"optimizer_sharding", choice, Null::unsets, "none|optimizer|parameters"},
    KeyInfo{"recompute", choice, Null::unsets, "none|selective|full"},
    KeyInfo{"schedule", choice, Null::unsets, "1f1b|interleaved"},
    KeyInfo{"seed", integer},
    KeyInfo{"sequence_parallel", boolean},
    KeyInfo{"sequence_split", choice, Null::unsets, "head_tail|contiguous|striped"},
    KeyInfo{"virtual_stages", integer},
};

constexpr std::array launch = {
    KeyInfo{"uid", integer},
};

constexpr std::array foreign_keys = {
    ForeignKey{"data_parallel_replicate_degree", "torchtitan", "dp_replicate_size"},
    ForeignKey{"data_parallel_shard_degree", "torchtitan", "dp_shard_size"},
    ForeignKey{"expert_model_parallel_size", "Megatron", "expert_parallel_size"},
    ForeignKey{"global_batch_size", "Megatron", "gradient_accumulation_steps"},
    ForeignKey{"lr", "Megatron", "learning_rate"},
    ForeignKey{"max_position_embeddings", "Megatron", "cpplan.model.max_position_embeddings"},
    ForeignKey{"max_seq_length", "TRL", "sequence_len"},
    ForeignKey{"num_attention_heads", "Megatron", "cpplan.model.num_attention_heads"},
    ForeignKey{"num_layers", "Megatron", "cpplan.model.num_hidden_layers"},
    ForeignKey{"num_train_epochs", "transformers", "num_epochs"},
    ForeignKey{"per_device_train_batch_size", "transformers", "micro_batch_size"},
    ForeignKey{"pipeline_model_parallel_size", "Megatron", "pipeline_parallel_size"},
    ForeignKey{"seq_length", "Megatron", "sequence_len"},
    ForeignKey{"sequence_length", "other frameworks", "sequence_len"},
    ForeignKey{"tensor_model_parallel_size", "Megatron", "tensor_parallel_size"},
    ForeignKey{"train_iters", "Megatron", "max_steps"},
    ForeignKey{"hidden_size", "Megatron", "cpplan.model.hidden_size"},
    ForeignKey{"ffn_hidden_size", "Megatron", "cpplan.model.intermediate_size"},
    ForeignKey{"num_query_groups", "Megatron", "cpplan.model.num_key_value_heads"},
    ForeignKey{"clip_grad", "Megatron", "max_grad_norm"},
    ForeignKey{"adam_eps", "Megatron", "adam_epsilon"},
    ForeignKey{"lr_warmup_iters", "Megatron", "warmup_steps"},
    ForeignKey{"lr_decay_style", "Megatron", "lr_scheduler"},
};

}  // namespace

std::span<const KeyInfo> own_top_level_keys() {
  return own_top_level;
}
std::span<const KeyInfo> cpplan_sections() {
  return sections;
}
std::span<const KeyInfo> model_keys() {
  return model;
}
std::span<const KeyInfo> rope_keys() {
  return rope;
}
std::span<const KeyInfo> cluster_keys() {
  return cluster;
}
std::span<const KeyInfo> run_keys() {
  return run;
}
std::span<const KeyInfo> launch_keys() {
  return launch;
}

const ForeignKey* find_foreign_key(std::string_view name) {
  std::string folded(name);
  folded.erase(0, folded.find_first_not_of('-'));  // a flag: --tensor-model-parallel-size
  std::replace(folded.begin(), folded.end(), '-', '_');
  const auto found = std::find_if(foreign_keys.begin(), foreign_keys.end(),
                                  [&](const ForeignKey& key) { return key.name == folded; });
  return found == foreign_keys.end() ? nullptr : &*found;
}

const KeyInfo* find_key(std::span<const KeyInfo> keys, std::string_view name) {
  const auto found =
      std::lower_bound(keys.begin(), keys.end(), name,
                       [](const KeyInfo& k, std::string_view n) { return k.name < n; });
  return found != keys.end() && found->name == name ? &*found : nullptr;
}

}  // namespace cpplan::config
