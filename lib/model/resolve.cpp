#include "model/resolve.hpp"

#include <algorithm>

#include "model/registry.hpp"

namespace cpplan::model {
namespace {

template <class T>
void apply(const config::Setting<T>& setting, T& value) {
  if (setting.given()) value = *setting;
}

void apply_overrides(const config::ModelSettings& s, ModelSpec& m) {
  apply(s.hidden_size, m.hidden_size);
  apply(s.num_hidden_layers, m.num_hidden_layers);
  apply(s.num_attention_heads, m.num_attention_heads);
  apply(s.num_key_value_heads, m.num_key_value_heads);
  apply(s.head_dim, m.head_dim);
  apply(s.intermediate_size, m.intermediate_size);
  apply(s.vocab_size, m.vocab_size);
  apply(s.max_position_embeddings, m.max_position_embeddings);
  apply(s.rope_theta, m.rope_theta);
  apply(s.rms_norm_eps, m.rms_norm_eps);
  apply(s.initializer_range, m.initializer_range);
  apply(s.attention_dropout, m.attention_dropout);
  apply(s.hidden_dropout, m.hidden_dropout);
  apply(s.tie_word_embeddings, m.tie_word_embeddings);
}

/// A head dimension or KV heads of the registry belong to its heads and hidden size: where the
/// config changes those alone, they follow, as in Hugging Face's LlamaConfig.
void forget_derived(const config::ModelSettings& s, ModelSpec& m) {
  if (s.num_attention_heads.given() || s.hidden_size.given()) m.head_dim = 0;
}

void derive(ModelSpec& m) {
  if (m.num_key_value_heads == 0) m.num_key_value_heads = m.num_attention_heads;
  const bool divides = m.num_attention_heads > 0 && m.hidden_size % m.num_attention_heads == 0;
  if (m.head_dim == 0 && divides) m.head_dim = m.hidden_size / m.num_attention_heads;
}

/// A rank, a head and a stage are counted in int; below this every stride of the engine fits too.
constexpr Index largest_dimension = Index{1} << 30;

bool usable(Index dimension) {
  return dimension >= 1 && dimension <= largest_dimension;
}

}  // namespace

ModelSpec known_dimensions(const config::TrainingConfig& config) {
  ModelSpec m;
  m.name = "cpplan.model";
  if (config.model.base_model.given())
    if (const auto known = find_model(*config.model.base_model)) m = *known;
  forget_derived(config.model, m);
  apply_overrides(config.model, m);
  derive(m);
  return m;
}

std::optional<ModelSpec> resolve_model(const config::TrainingConfig& config) {
  const ModelSpec m = known_dimensions(config);
  const Index dimensions[] = {m.hidden_size,         m.num_hidden_layers, m.num_attention_heads,
                              m.num_key_value_heads, m.head_dim,          m.intermediate_size,
                              m.vocab_size};
  const bool complete = std::ranges::all_of(dimensions, usable);
  if (!complete || !checked_parameter_count(m)) return std::nullopt;
  return m;
}

}  // namespace cpplan::model
