#include "model/family.hpp"

#include <algorithm>

namespace cpplan::model {
namespace {

// Source of each entry: configuration_*.py and modeling_*.py of the type in transformers 4.57.
constexpr Family families[] = {
    {.model_type = "deepseek_v2", .experts = ExpertNames::deepseek, .latent_attention = true},
    {.model_type = "deepseek_v3", .experts = ExpertNames::deepseek, .latent_attention = true},
    {.model_type = "gemma",
     .defaults = {.tie_word_embeddings = true, .head_dim = 256},
     .hidden_act = "gelu_pytorch_tanh",
     .attention_bias = AttentionBias::from_key,
     .scaled_or_capped = true},
    {.model_type = "gemma2",
     .defaults = {.tie_word_embeddings = true, .head_dim = 256},
     .norms_per_layer = 4,
     .hidden_act = "gelu_pytorch_tanh",
     .attention_bias = AttentionBias::from_key,
     .full_attention_interval = 2,
     .scaled_or_capped = true},
    {.model_type = "gemma3_text",
     .defaults = {.tie_word_embeddings = true,
                  .head_dim = 256,
                  .num_attention_heads = 8,
                  .num_key_value_heads = 4,
                  .vocab_size = 262208},
     .norms_per_layer = 4,
     .hidden_act = "gelu_pytorch_tanh",
     .qk_norm = QkNorm::per_head,
     .attention_bias = AttentionBias::from_key,
     .full_attention_interval = 6,
     .scaled_or_capped = true},
    {.model_type = "gpt_oss",
     .defaults = {.head_dim = 64},
     .attention_bias = AttentionBias::on_all,
     .experts = ExpertNames::gpt_oss,
     .full_attention_interval = 2,
     .attention_sinks = true},
    {.model_type = "granite", .attention_bias = AttentionBias::from_key, .scaled_or_capped = true},
    {.model_type = "llama", .attention_bias = AttentionBias::from_key},
    {.model_type = "mistral"},
    {.model_type = "mixtral", .experts = ExpertNames::mixtral},
    {.model_type = "olmo2",
     .norms_before_blocks = false,
     .qk_norm = QkNorm::whole,
     .attention_bias = AttentionBias::from_key},
    {.model_type = "phi3"},
    {.model_type = "qwen2", .attention_bias = AttentionBias::on_qkv, .window_is_switched = true},
    {.model_type = "qwen3",
     .defaults = {.head_dim = 128},
     .qk_norm = QkNorm::per_head,
     .attention_bias = AttentionBias::from_key,
     .window_is_switched = true},
    {.model_type = "qwen3_moe",
     .qk_norm = QkNorm::per_head,
     .attention_bias = AttentionBias::from_key,
     .experts = ExpertNames::qwen,
     .window_is_switched = true},
    {.model_type = "smollm3",
     .defaults = {.tie_word_embeddings = true},
     .attention_bias = AttentionBias::from_key,
     .window_is_switched = true},
    {.model_type = "starcoder2",
     .defaults = {.tie_word_embeddings = true},
     .norm = Norm::layer,
     .mlp = Mlp::plain,
     .hidden_act = "gelu_pytorch_tanh",
     .attention_bias = AttentionBias::on_all,
     .mlp_bias = true},
};

}  // namespace

const Family* find_family(std::string_view model_type) {
  const auto* found = std::ranges::find(families, model_type, &Family::model_type);
  return found == std::end(families) ? nullptr : found;
}

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> types;
  for (const Family& family : families) types.push_back(family.model_type);
  return types;
}

void apply_family(const Family& family, ModelSpec& m) {
  m.model_type = family.model_type;
  m.hidden_act = family.hidden_act;
  m.norm = family.norm;
  m.norms_per_layer = family.norms_per_layer;
  m.norms_before_blocks = family.norms_before_blocks;
  m.mlp = family.mlp;
  m.qk_norm = family.qk_norm;
  m.attention_sinks = family.attention_sinks;
  m.scaled_or_capped = family.scaled_or_capped;
  const auto bias = family.attention_bias;
  m.biases.query_key_value = bias == AttentionBias::on_qkv || bias == AttentionBias::on_all;
  m.biases.attention_output = bias == AttentionBias::on_all;
  m.biases.mlp = family.mlp_bias;
}

}  // namespace cpplan::model
