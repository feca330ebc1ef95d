#include "model/megatron_model.hpp"

#include <algorithm>
#include <charconv>

#include "base/checked.hpp"

namespace cpplan::model {
namespace {

using Settings = config::MegatronSettings;

constexpr Index most_features = Index{1} << 30;  // beyond it a dimension is refused anyway

/// arguments.py: 4h, or with SwiGLU two thirds of it in multiples of 64.
Index default_intermediate_size(Index hidden_size, bool swiglu) {
  if (hidden_size < 1 || hidden_size > most_features) return 0;
  if (!swiglu) return 4 * hidden_size;
  const double two_thirds = static_cast<double>(4 * hidden_size * 2) / 3;
  return static_cast<Index>(two_thirds / 64) * 64;
}

std::optional<Index> positive(std::string_view text) {
  Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && n >= 0 && n <= most_features ? std::optional(n) : std::nullopt;
}

void apply_traits(const Settings& s, ModelSpec& m) {
  m.model_type = "megatron";
  const bool swiglu = s.swiglu.value_or(false);
  m.mlp = swiglu ? Mlp::gated : Mlp::plain;
  m.hidden_act = swiglu ? "silu" : "gelu";
  m.norm = s.normalization.value_or("LayerNorm") == "LayerNorm" ? Norm::layer : Norm::rms;
  m.qk_norm = s.qk_layernorm.value_or(false) ? QkNorm::per_head : QkNorm::none;
  const std::string positions = s.position_embedding_type.value_or("learned_absolute");
  m.positions = positions == "learned_absolute" ? Positions::learned : Positions::rotary;
  m.tie_word_embeddings = !s.untie_embeddings.value_or(false);
  const bool biased = s.add_bias_linear.value_or(true);
  m.biases = {biased || s.add_qkv_bias.value_or(false), biased, biased};
}

/// Llama 3's scaling has its numbers in the code but for the factor; interpolation is linear.
void apply_rope_scaling(const Settings& s, ModelSpec& m) {
  RopeScaling& rope = m.rope_scaling;
  if (s.use_rope_scaling.value_or(false))
    rope = {.type = "llama3",
            .factor = s.rope_scaling_factor.value_or(8.0),
            .low_freq_factor = 1,
            .high_freq_factor = 4,
            .original_max_position_embeddings = 8192};
  else if (s.rotary_seq_len_interpolation_factor.given())
    rope = {.type = "linear", .factor = *s.rotary_seq_len_interpolation_factor};
  const bool rotary = m.positions == Positions::rotary;
  if (rotary && s.rotary_percent.value_or(1.0) < 1) m.positions = Positions::partly_rotary;
}

void apply_dimensions(const config::TrainingConfig& config, ModelSpec& m) {
  const Settings& s = config.megatron;
  // The flags read num_query_groups only with group_query_attention; the YAML sections always.
  const bool groups = s.group_query_attention.value_or(s.form == config::MegatronForm::nested);
  if (!groups) m.num_key_value_heads = m.num_attention_heads;
  if (m.intermediate_size == 0)
    m.intermediate_size = default_intermediate_size(m.hidden_size, m.mlp == Mlp::gated);
  if (m.vocab_size == 0) m.vocab_size = s.padded_vocab_size.value_or(0);
  if (s.max_position_embeddings.given()) m.max_position_embeddings = *s.max_position_embeddings;
  m.attention_dropout = config.model.attention_dropout.value_or(0.1);
  m.hidden_dropout = config.model.hidden_dropout.value_or(0.1);
}

/// [left, right] of the query's own key; it sees itself, and causally nothing to the right. A list
/// of layers in place of a frequency has windows in some layers, too.
void apply_window(const Settings& s, ModelSpec& m) {
  const bool given = s.window_size.given() && !(*s.window_size).empty();
  if (!given || (*s.window_size).front() < 0) return;
  m.sliding_window = (*s.window_size).front() + 1;
  if (!s.window_attn_skip_freq.given()) return;
  m.full_attention_interval = positive(*s.window_attn_skip_freq).value_or(2);
}

void apply_experts(const Settings& s, ModelSpec& m) {
  m.experts.num_local_experts = std::max<Index>(0, s.num_experts.value_or(0));
  if (m.experts.num_local_experts == 0) return;
  m.experts.num_experts_per_tok = s.moe_router_topk.value_or(2);
  m.experts.moe_intermediate_size = s.moe_ffn_hidden_size.value_or(m.intermediate_size);
  m.experts.shared_intermediate_size = s.moe_shared_expert_size.value_or(0);
  m.experts.biases = m.biases.mlp;
  const auto layers = parse_moe_layer_freq(s.moe_layer_freq.value_or("1"));
  m.experts.first_dense_layers = layers ? layers->first_dense_layers : 0;
  m.experts.layer_frequency = layers ? layers->layer_frequency : 1;
}

void apply_latent_attention(const Settings& s, ModelSpec& m) {
  if (!s.multi_latent_attention.value_or(false)) return;
  m.latent.q_lora_rank = s.q_lora_rank.value_or(0);
  m.latent.kv_lora_rank = s.kv_lora_rank.value_or(512);
  m.latent.qk_nope_head_dim = s.qk_head_dim.value_or(128);
  m.latent.qk_rope_head_dim = s.qk_pos_emb_head_dim.value_or(64);
  m.latent.v_head_dim = s.v_head_dim.value_or(128);
}

/// "[0]*3" -> 3, "[0]" -> 1.
std::optional<Index> run_of(std::string_view text, std::string_view element) {
  if (!text.starts_with(element)) return std::nullopt;
  text.remove_prefix(element.size());
  if (text.empty()) return 1;
  return text.starts_with('*') ? positive(text.substr(1)) : std::nullopt;
}

}  // namespace

std::optional<RoutedLayers> parse_moe_layer_freq(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (std::string_view(" ()'\"").find(c) == std::string_view::npos) plain.push_back(c);
  if (const auto frequency = positive(plain))
    return *frequency >= 1 ? std::optional(RoutedLayers{0, *frequency}) : std::nullopt;
  const auto plus = plain.find('+');
  if (plus == std::string::npos)
    return run_of(plain, "[1]") ? std::optional(RoutedLayers{}) : std::nullopt;
  const std::string_view all = plain;
  const auto dense = run_of(all.substr(0, plus), "[0]");
  if (!dense || !run_of(all.substr(plus + 1), "[1]")) return std::nullopt;
  return RoutedLayers{*dense, 1};
}

void apply_megatron(const config::TrainingConfig& config, ModelSpec& m) {
  apply_traits(config.megatron, m);
  apply_rope_scaling(config.megatron, m);
  apply_dimensions(config, m);
  apply_window(config.megatron, m);
  apply_experts(config.megatron, m);
  apply_latent_attention(config.megatron, m);
}

}  // namespace cpplan::model
