#include "model/parameters.hpp"

#include <algorithm>

#include "base/contract.hpp"
#include "model/resolve.hpp"

namespace cpplan::model {
namespace {

using Count = CheckedCount;

bool is_latent(const ModelSpec& m) {
  return m.latent.kv_lora_rank > 0;
}

/// A LayerNorm has a weight and a bias a feature, an RMSNorm a weight.
Count norm_parameters(const ModelSpec& m, Count features) {
  return features * Index{m.norm == Norm::layer ? 2 : 1};
}

Count query_key_norms(const ModelSpec& m) {
  if (m.qk_norm == QkNorm::none) return 0;
  if (m.qk_norm == QkNorm::per_head) return norm_parameters(m, Count(2) * m.head_dim);
  return norm_parameters(m, query_width(m) + key_width(m));
}

Count attention_biases(const ModelSpec& m) {
  Count biases = 0;
  if (m.biases.query_key_value) biases += query_width(m) + key_width(m) + value_width(m);
  if (m.biases.attention_output) biases += m.hidden_size;
  return biases;
}

/// Projections that every head has its part of.
Count attention_projections(const ModelSpec& m) {
  const Count h = m.hidden_size;
  const Count out = attention_output_width(m) * h;
  if (!is_latent(m)) return h * (query_width(m) + key_width(m) + value_width(m)) + out;
  const auto& l = m.latent;
  const Count q_in = l.q_lora_rank > 0 ? Count(l.q_lora_rank) : h;
  const Count kv_up = Count(l.qk_nope_head_dim) + l.v_head_dim;
  return q_in * query_width(m) + Count(l.kv_lora_rank) * m.num_attention_heads * kv_up + out;
}

/// DeepSeek-V2 (arXiv 2405.04434) section 2.1: the latents have no heads to be cut by.
Count latent_projections(const ModelSpec& m) {
  if (!is_latent(m)) return 0;
  const auto& l = m.latent;
  const Count down =
      Count(m.hidden_size) * (Count(l.q_lora_rank) + l.kv_lora_rank + l.qk_rope_head_dim);
  return down + norm_parameters(m, Count(l.q_lora_rank) + l.kv_lora_rank);
}

Count mlp_parameters(const ModelSpec& m, Count features, bool biased) {
  const Index inner = m.mlp == Mlp::gated ? 2 : 1;
  const Count weights = Count(inner + 1) * m.hidden_size * features;
  return biased ? weights + Count(inner) * features + m.hidden_size : weights;
}

Count router_parameters(const ModelSpec& m) {
  const auto& e = m.experts;
  Count router = Count(m.hidden_size) * e.num_local_experts;
  if (e.biases) router += e.num_local_experts;
  if (e.correction_bias) router += e.num_local_experts;
  return router;
}

Count whole_model(const ModelSpec& m) {
  const Index routed = routed_layers(m, 0, m.num_hidden_layers);
  const Count dense_layers =
      Count(m.num_hidden_layers - routed) * layer_parameters(m, LayerKind::dense).total();
  const Count routed_total =
      routed > 0 ? Count(routed) * layer_parameters(m, LayerKind::routed).total() : Count(0);
  const Count ends = Count(m.tie_word_embeddings ? 1 : 2) * embedding_parameters(m);
  return dense_layers + routed_total + ends + position_parameters(m) + final_norm_parameters(m);
}

}  // namespace

Count query_width(const ModelSpec& m) {
  const auto& l = m.latent;
  const Index of_head = is_latent(m) ? l.qk_nope_head_dim + l.qk_rope_head_dim : m.head_dim;
  return Count(m.num_attention_heads) * of_head;
}

Count attention_output_width(const ModelSpec& m) {
  return Count(m.num_attention_heads) * (is_latent(m) ? m.latent.v_head_dim : m.head_dim);
}

Count key_width(const ModelSpec& m) {
  return is_latent(m) ? query_width(m) : Count(m.num_key_value_heads) * m.head_dim;
}

Count value_width(const ModelSpec& m) {
  return is_latent(m) ? attention_output_width(m) : Count(m.num_key_value_heads) * m.head_dim;
}

LayerParameters layer_parameters(const ModelSpec& m, LayerKind kind) {
  const bool routed = kind == LayerKind::routed;
  const auto& e = m.experts;
  LayerParameters layer;
  layer.attention = attention_projections(m) + attention_biases(m);
  if (m.attention_sinks) layer.attention += m.num_attention_heads;
  layer.mlp = routed ? mlp_parameters(m, e.shared_intermediate_size, false)
                     : mlp_parameters(m, m.intermediate_size, m.biases.mlp);
  if (routed && e.shared_intermediate_size == 0) layer.mlp = 0;
  if (routed)
    layer.experts =
        Count(e.num_local_experts) * mlp_parameters(m, e.moe_intermediate_size, e.biases);
  layer.whole = Count(m.norms_per_layer) * norm_parameters(m, m.hidden_size) + query_key_norms(m) +
                latent_projections(m);
  if (routed) layer.whole += router_parameters(m);
  return layer;
}

Index routed_layers(const ModelSpec& m, Index first, Index end) {
  const auto& e = m.experts;
  if (e.num_local_experts < 1) return 0;
  const Index frequency = std::max<Index>(1, e.layer_frequency);
  const Index begin = std::clamp(e.first_dense_layers, first, std::max(first, end));
  return ceil_div(std::max(begin, end), frequency) - ceil_div(begin, frequency);
}

Count embedding_parameters(const ModelSpec& m) {
  return Count(m.hidden_size) * m.vocab_size;
}

Count position_parameters(const ModelSpec& m) {
  if (m.positions != Positions::learned) return 0;
  return Count(m.hidden_size) * m.max_position_embeddings;
}

Count final_norm_parameters(const ModelSpec& m) {
  return norm_parameters(m, m.hidden_size);
}

std::optional<Index> checked_parameter_count(const ModelSpec& m) {
  return whole_model(m).value();
}

Index parameter_count(const ModelSpec& m) {
  const auto count = checked_parameter_count(m);
  expect(count.has_value(), "a model spec's parameters are countable");
  return *count;
}

}  // namespace cpplan::model
