#pragma once
// The dimensions of a decoder-only transformer, and what follows from them alone.
#include <optional>
#include <string>

#include "base/units.hpp"

namespace cpplan::model {

enum class Norm : std::uint8_t { rms, layer };
/// gated: gate, up and down projections (SwiGLU, GeGLU); plain: up and down.
enum class Mlp : std::uint8_t { gated, plain };
/// Norms on queries and keys: one weight a feature of a head, or one a feature of all heads.
enum class QkNorm : std::uint8_t { none, per_head, whole };
enum class Positions : std::uint8_t { rotary, partly_rotary, learned };

/// Which projections add a bias vector.
struct Biases {
  bool query_key_value = false, attention_output = false, mlp = false;
  friend bool operator==(const Biases&, const Biases&) = default;
};

/// Mixture of experts; num_local_experts 0: every layer has one dense MLP. Layer i routes where
/// i >= first_dense_layers and i is a multiple of layer_frequency.
struct Experts {
  Index num_local_experts = 0, num_experts_per_tok = 0;
  Index moe_intermediate_size = 0;     // of one routed expert
  Index shared_intermediate_size = 0;  // of all shared experts together
  Index first_dense_layers = 0, layer_frequency = 1;
  bool biases = false;           // of the router and of every expert's projections
  bool correction_bias = false;  // one a routed expert, for balance without a loss

  friend bool operator==(const Experts&, const Experts&) = default;
};

/// Multi-head latent attention (DeepSeek); kv_lora_rank 0: ordinary attention. q_lora_rank 0:
/// queries are projected in one step.
struct LatentAttention {
  Index q_lora_rank = 0, kv_lora_rank = 0;
  Index qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// rope_scaling of config.json: how rotary positions were stretched beyond those that the model was
/// pretrained on. 0: not given.
struct RopeScaling {
  std::string type = "default";  // not stretched
  double factor = 0;
  double low_freq_factor = 0, high_freq_factor = 0;  // llama3
  double beta_fast = 32, beta_slow = 1;              // yarn, from here on
  double attention_factor = 0;                       // else it follows from the factor
  double mscale = 0, mscale_all_dim = 0;             // likewise
  bool truncate = true;                              // bounds of the ramp to whole pairs
  Index original_max_position_embeddings = 0;        // else max_position_embeddings

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

/// Names are Hugging Face's config.json's. The defaults of the traits are Llama's.
struct ModelSpec {
  std::string name;  // of the registry, or "cpplan.model"
  Index hidden_size = 0, num_hidden_layers = 0, num_attention_heads = 0, num_key_value_heads = 0;
  Index head_dim = 0, intermediate_size = 0, vocab_size = 0, max_position_embeddings = 0;
  double rope_theta = 10000.0, rms_norm_eps = 1e-5;
  double initializer_range = 0.02;  // deviation of initial weights
  double attention_dropout = 0, hidden_dropout = 0;
  bool tie_word_embeddings = false;

  std::string model_type = "llama";
  std::string hidden_act = "silu";
  Norm norm = Norm::rms;
  int norms_per_layer = 2;  // 4 where outputs of attention and MLP are normalised too
  bool norms_before_blocks = true;
  Mlp mlp = Mlp::gated;
  QkNorm qk_norm = QkNorm::none;
  Positions positions = Positions::rotary;
  RopeScaling rope_scaling;
  Biases biases;
  Experts experts;
  LatentAttention latent;
  Index sliding_window = 0;           // keys that a query of a windowed layer sees; 0: all
  Index full_attention_interval = 0;  // every n-th layer sees all keys; 0: none does
  bool attention_sinks = false;       // a learned logit a head
  bool scaled_or_capped = false;      // embeddings, logits or residuals are scaled or capped

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

/// Key-value heads default to the attention heads, the head dimension to hidden_size / heads, where
/// they are 0.
ModelSpec with_derived_dimensions(ModelSpec);

/// Every weight of the model, multi-token prediction and vision towers apart.
Index parameter_count(const ModelSpec&);

/// What keeps our engine from training the model for sequences of that length: it has RMSNorm
/// before each block, rotary positions, GQA over all keys or a window of them, SwiGLU and no
/// biases. None where the model is of that (Llama's) type.
std::optional<std::string> why_not_llama_type(const ModelSpec&, Index sequence_len);

}  // namespace cpplan::model
