#include "model/model_spec.hpp"

#include <vector>

#include "base/text.hpp"

namespace cpplan::model {
namespace {

void note(std::vector<std::string>& traits, bool holds, const char* trait) {
  if (holds) traits.emplace_back(trait);
}

bool is_windowed(const ModelSpec& m, Index sequence_len) {
  return m.sliding_window > 0 && m.sliding_window < sequence_len;
}

}  // namespace

ModelSpec with_derived_dimensions(ModelSpec m) {
  if (m.num_key_value_heads == 0) m.num_key_value_heads = m.num_attention_heads;
  const bool divides = m.num_attention_heads > 0 && m.hidden_size % m.num_attention_heads == 0;
  if (m.head_dim == 0 && divides) m.head_dim = m.hidden_size / m.num_attention_heads;
  return m;
}

std::optional<std::string> why_not_llama_type(const ModelSpec& m, Index sequence_len) {
  const auto& b = m.biases;
  std::vector<std::string> traits;
  note(traits, m.experts.num_local_experts > 0, "experts");
  note(traits, m.latent.kv_lora_rank > 0, "latent attention");
  note(traits, b.query_key_value || b.attention_output || b.mlp, "biases");
  note(traits, m.qk_norm != QkNorm::none, "norms of queries and keys");
  note(traits, m.norm != Norm::rms, "LayerNorm");
  note(traits, m.norms_per_layer != 2 || !m.norms_before_blocks, "norms after its blocks");
  note(traits, m.mlp != Mlp::gated || m.hidden_act != "silu", "an MLP that is not SwiGLU");
  note(traits, m.positions != Positions::rotary, "positions that are not rotary everywhere");
  note(traits, is_windowed(m, sequence_len) && m.full_attention_interval > 0,
       "a sliding window in some of its layers");
  note(traits, m.attention_sinks, "attention sinks");
  note(traits, m.scaled_or_capped, "scaled or capped embeddings, logits or residuals");
  if (traits.empty()) return std::nullopt;
  return "it has " + join_words(traits, "and");
}

}  // namespace cpplan::model
