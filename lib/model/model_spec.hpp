#pragma once
// The dimensions of a decoder-only transformer, and what follows from them alone.
#include <string>

#include "base/units.hpp"

namespace cpplan::model {

/// Names are Hugging Face's config.json's.
struct ModelSpec {
  std::string name;  // of the registry, or "cpplan.model"
  Index hidden_size = 0, num_hidden_layers = 0, num_attention_heads = 0, num_key_value_heads = 0;
  Index head_dim = 0, intermediate_size = 0, vocab_size = 0, max_position_embeddings = 0;
  double rope_theta = 10000.0, rms_norm_eps = 1e-5;
  double initializer_range = 0.02;  // deviation of initial weights
  double attention_dropout = 0, hidden_dropout = 0;
  bool tie_word_embeddings = false;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

/// Of the Llama type: RMSNorm, rotary positions, GQA, SwiGLU, no biases.
Index parameter_count(const ModelSpec&);

}  // namespace cpplan::model
