#include "model/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/text.hpp"
#include "model/family.hpp"
#include "model/hf_config.hpp"
#include "model/megatron_model.hpp"
#include "model/registry.hpp"

namespace cpplan::model {
namespace {

using config::ModelSettings;

template <class T>
void apply(const config::Setting<T>& setting, T& value) {
  if (setting.given()) value = *setting;
}

void apply_dimensions(const ModelSettings& s, ModelSpec& m) {
  apply(s.hidden_size, m.hidden_size);
  apply(s.num_hidden_layers, m.num_hidden_layers);
  apply(s.num_attention_heads, m.num_attention_heads);
  apply(s.num_key_value_heads, m.num_key_value_heads);
  apply(s.head_dim, m.head_dim);
  apply(s.intermediate_size, m.intermediate_size);
  apply(s.vocab_size, m.vocab_size);
  apply(s.max_position_embeddings, m.max_position_embeddings);
  apply(s.sliding_window, m.sliding_window);
}

void apply_rope(const config::RopeSettings& s, ModelSpec& m) {
  apply(s.rope_theta, m.rope_theta);
  apply(s.rope_type, m.rope_scaling.type);
  apply(s.factor, m.rope_scaling.factor);
  apply(s.low_freq_factor, m.rope_scaling.low_freq_factor);
  apply(s.high_freq_factor, m.rope_scaling.high_freq_factor);
  apply(s.beta_fast, m.rope_scaling.beta_fast);
  apply(s.beta_slow, m.rope_scaling.beta_slow);
  apply(s.attention_factor, m.rope_scaling.attention_factor);
  apply(s.original_max_position_embeddings, m.rope_scaling.original_max_position_embeddings);
}

void apply_numbers(const ModelSettings& s, ModelSpec& m) {
  apply(s.rope_theta, m.rope_theta);
  apply_rope(s.rope_scaling, m);
  apply(s.rms_norm_eps, m.rms_norm_eps);
  apply(s.initializer_range, m.initializer_range);
  apply(s.attention_dropout, m.attention_dropout);
  apply(s.hidden_dropout, m.hidden_dropout);
  apply(s.tie_word_embeddings, m.tie_word_embeddings);
  apply(s.hidden_act, m.hidden_act);
  apply(s.attention_bias, m.biases.query_key_value);
  apply(s.attention_bias, m.biases.attention_output);
}

/// An expert is as wide as a dense MLP where the config says nothing else (Mixtral).
void apply_experts(const ModelSettings& s, ModelSpec& m) {
  apply(s.num_local_experts, m.experts.num_local_experts);
  apply(s.num_experts_per_tok, m.experts.num_experts_per_tok);
  apply(s.moe_intermediate_size, m.experts.moe_intermediate_size);
  if (m.experts.num_local_experts > 0 && m.experts.moe_intermediate_size == 0)
    m.experts.moe_intermediate_size = m.intermediate_size;
}

/// A head dimension or KV heads of the registry belong to its heads and hidden size: where the
/// config changes those alone, they follow, as in Hugging Face's LlamaConfig.
void forget_derived(const ModelSettings& s, ModelSpec& m) {
  if (s.num_attention_heads.given() || s.hidden_size.given()) m.head_dim = 0;
}

void apply_model_type(const ModelSettings& s, ModelSpec& m) {
  if (!s.model_type.given() || *s.model_type == m.model_type) return;
  if (const Family* family = find_family(*s.model_type)) apply_family(*family, m);
}

/// As Hugging Face does: a folder of that name comes before the hub.
ModelSpec source_of(const ModelSettings& s) {
  ModelSpec unknown;
  unknown.name = "cpplan.model";
  if (!s.base_model.given()) return unknown;
  if (is_model_folder(*s.base_model)) {
    const auto folder = read_model_folder(*s.base_model);
    return folder ? folder->spec : unknown;
  }
  return find_model(*s.base_model).value_or(unknown);
}

/// A rank, a head and a stage are counted in int; below this every stride of the engine fits too.
constexpr Index largest_dimension = Index{1} << 30;

bool usable(Index dimension) {
  return dimension >= 1 && dimension <= largest_dimension;
}

bool usable_or_unset(Index dimension) {
  return dimension == 0 || usable(dimension);
}

bool has_usable_experts(const Experts& e) {
  if (e.num_local_experts == 0) return true;
  return usable(e.num_local_experts) && usable(e.num_experts_per_tok) &&
         e.num_experts_per_tok <= e.num_local_experts && usable(e.moe_intermediate_size) &&
         usable_or_unset(e.shared_intermediate_size) && usable_or_unset(e.first_dense_layers) &&
         usable(e.layer_frequency);
}

bool has_usable_latents(const LatentAttention& l) {
  const Index widths[] = {l.qk_nope_head_dim, l.qk_rope_head_dim, l.v_head_dim};
  return l.kv_lora_rank == 0 || (usable(l.kv_lora_rank) && usable_or_unset(l.q_lora_rank) &&
                                 std::ranges::all_of(widths, usable));
}

bool is_given(const ModelSettings& s, std::string_view key) {
  const std::pair<std::string_view, const config::Setting<Index>*> settings[] = {
      {"hidden_size", &s.hidden_size},
      {"num_hidden_layers", &s.num_hidden_layers},
      {"num_attention_heads", &s.num_attention_heads},
      {"intermediate_size", &s.intermediate_size},
      {"vocab_size", &s.vocab_size},
      {"num_local_experts", &s.num_local_experts},
      {"num_experts_per_tok", &s.num_experts_per_tok},
      {"moe_intermediate_size", &s.moe_intermediate_size}};
  return std::ranges::any_of(settings, [&](const auto& setting) {
    return setting.first == key && setting.second->given();
  });
}

}  // namespace

Result<void> check_model_folder(const config::ModelSettings& s) {
  if (!s.base_model.given() || !is_model_folder(*s.base_model)) return {};
  const auto folder = read_model_folder(*s.base_model);
  if (!folder) return tl::unexpected(folder.error());
  std::vector<std::string> missing = folder->missing;
  std::erase_if(missing, [&](const std::string& key) { return is_given(s, key); });
  if (missing.empty()) return {};
  return failure(fmt::format(
      "the config.json of \"{}\" lacks {} (the model cannot be counted without). add {} there or "
      "under cpplan.model",
      *s.base_model, join_words(missing, "and"), missing.size() == 1 ? "it" : "them"));
}

Result<void> check_model_type(const config::ModelSettings& s) {
  if (!s.model_type.given() || find_family(*s.model_type) != nullptr) return {};
  const auto types = model_types();
  const std::vector<std::string> known(types.begin(), types.end());
  return failure(
      fmt::format("{} is \"{}\" (it decides norms, biases and experts, and is not known). use {}",
                  s.model_type.key, *s.model_type, join_words(known, "or")));
}

ModelSpec known_dimensions(const config::TrainingConfig& config) {
  const ModelSettings& s = config.model;
  ModelSpec m = source_of(s);
  apply_model_type(s, m);
  forget_derived(s, m);
  apply_dimensions(s, m);
  apply_numbers(s, m);
  apply_experts(s, m);
  if (config.dialect == config::Dialect::megatron) apply_megatron(config, m);
  return with_derived_dimensions(std::move(m));
}

std::optional<ModelSpec> resolve_model(const config::TrainingConfig& config) {
  const ModelSpec m = known_dimensions(config);
  const Index dimensions[] = {m.hidden_size,         m.num_hidden_layers, m.num_attention_heads,
                              m.num_key_value_heads, m.head_dim,          m.intermediate_size,
                              m.vocab_size};
  const bool complete = std::ranges::all_of(dimensions, usable) && has_usable_experts(m.experts) &&
                        has_usable_latents(m.latent) && m.max_position_embeddings >= 0;
  if (!complete || !check_model_source(config) || !checked_parameter_count(m)) return std::nullopt;
  return m;
}

Result<void> check_model_source(const config::TrainingConfig& config) {
  if (auto folder = check_model_folder(config.model); !folder) return folder;
  if (auto type = check_model_type(config.model); !type) return type;
  const auto& layers = config.megatron.moe_layer_freq;
  if (!layers.given() || parse_moe_layer_freq(*layers)) return {};
  return failure(fmt::format(
      "{} is \"{}\" (layers are counted from a number, or from dense ones before routed ones). "
      "use for example 1 or ([0]*3+[1]*58)",
      layers.key, *layers));
}

}  // namespace cpplan::model
