#pragma once
// What a config.json leaves unsaid because the code of its model_type says it: norms, biases,
// activation, which names its experts go by.
#include <optional>
#include <string_view>
#include <vector>

#include "model/model_spec.hpp"

namespace cpplan::model {

/// Where the biases of attention come from.
enum class AttentionBias : std::uint8_t { from_key, on_qkv, on_all, none };

/// How the routed experts are named: Mixtral's num_local_experts, Qwen's num_experts, DeepSeek's
/// n_routed_experts, GPT-OSS's num_local_experts with biases.
enum class ExpertNames : std::uint8_t { none, mixtral, qwen, deepseek, gpt_oss };

/// Values that transformers' configuration class of the type takes where the file is silent.
struct FamilyDefaults {
  bool tie_word_embeddings = false;
  Index head_dim = 0;  // 0: hidden_size / num_attention_heads
  Index num_attention_heads = 0, num_key_value_heads = 0, vocab_size = 0;  // 0: required
};

struct Family {
  std::string_view model_type;
  FamilyDefaults defaults = {};
  Norm norm = Norm::rms;
  int norms_per_layer = 2;
  bool norms_before_blocks = true;
  Mlp mlp = Mlp::gated;
  std::string_view hidden_act = "silu";
  QkNorm qk_norm = QkNorm::none;
  AttentionBias attention_bias = AttentionBias::none;
  bool mlp_bias = false;
  ExpertNames experts = ExpertNames::none;
  bool latent_attention = false;
  bool window_is_switched = false;    // by use_sliding_window
  Index full_attention_interval = 0;  // of windowed types: every n-th layer sees all keys
  bool attention_sinks = false, scaled_or_capped = false;
};

/// None where the type is not known.
const Family* find_family(std::string_view model_type);

std::vector<std::string_view> model_types();

/// Sets the traits of the type; no dimension.
void apply_family(const Family&, ModelSpec&);

}  // namespace cpplan::model
