#include "model/hf_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "model/family.hpp"

namespace cpplan::model {
namespace {
namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 1 << 20;

/// Members by name; null counts as absent. Remembers what was missing or of the wrong type.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  const Json* find(std::string_view key) const {
    const Json* value = object_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  /// Where it is absent `fallback`, unless that is 0: then it is missing.
  Index dimension(std::string_view key, Index fallback = 0) {
    if (find(key) == nullptr && fallback == 0) missing_.emplace_back(key);
    return integer(key, fallback);
  }
  Index integer(std::string_view key, Index fallback) {
    const Json* value = expected(key, &Json::is_integer, "an integer");
    return value == nullptr ? fallback : value->as_integer();
  }
  double real(std::string_view key, double fallback) {
    const Json* value = expected(key, &Json::is_number, "a number");
    return value == nullptr ? fallback : value->as_double();
  }
  bool boolean(std::string_view key, bool fallback) {
    const Json* value = expected(key, &Json::is_bool, "true or false");
    return value == nullptr ? fallback : value->as_bool();
  }
  std::string text(std::string_view key, std::string_view fallback) {
    const Json* value = expected(key, &Json::is_string, "a string");
    return value == nullptr ? std::string(fallback) : value->as_string();
  }

  const Json* object(std::string_view key) { return expected(key, &Json::is_object, "an object"); }
  bool has_objects() const {
    return std::ranges::any_of(object_.members(),
                               [](const auto& member) { return member.second.is_object(); });
  }
  /// What was wrong in the object of that key.
  void add_wrong(const Reader& inner, std::string_view key) {
    for (const std::string& wrong : inner.wrong())
      wrong_.push_back(fmt::format("{}.{}", key, wrong));
  }

  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  const Json* expected(std::string_view key, bool (Json::*is)() const, std::string_view what) {
    const Json* value = find(key);
    if (value == nullptr || (value->*is)()) return value;
    wrong_.push_back(fmt::format("{} is not {}", key, what));
    return nullptr;
  }

  const Json& object_;
  std::vector<std::string> missing_, wrong_;
};

void read_dimensions(Reader& json, const Family& family, ModelSpec& m) {
  const auto& defaults = family.defaults;
  m.hidden_size = json.dimension("hidden_size");
  m.num_hidden_layers = json.dimension("num_hidden_layers");
  m.num_attention_heads = json.dimension("num_attention_heads", defaults.num_attention_heads);
  const Index groups = defaults.num_key_value_heads;
  m.num_key_value_heads =
      json.integer("num_key_value_heads", groups > 0 ? groups : m.num_attention_heads);
  m.vocab_size = json.dimension("vocab_size", defaults.vocab_size);
  m.head_dim = json.integer("head_dim", defaults.head_dim);
  m.max_position_embeddings = json.integer("max_position_embeddings", 0);
  m.tie_word_embeddings = json.boolean("tie_word_embeddings", defaults.tie_word_embeddings);
}

/// "type" is what transformers called it before 4.43. What has a value for each type of layers has
/// members that are objects.
void read_rope(Reader& json, ModelSpec& m) {
  RopeScaling& s = m.rope_scaling;
  m.rope_theta = json.real("rope_theta", m.rope_theta);
  s.type = json.has_objects() ? "one for each type of layers"
                              : json.text("rope_type", json.text("type", s.type));
  s.factor = json.real("factor", s.factor);
  s.low_freq_factor = json.real("low_freq_factor", s.low_freq_factor);
  s.high_freq_factor = json.real("high_freq_factor", s.high_freq_factor);
  s.beta_fast = json.real("beta_fast", s.beta_fast);
  s.beta_slow = json.real("beta_slow", s.beta_slow);
  s.attention_factor = json.real("attention_factor", s.attention_factor);
  s.mscale = json.real("mscale", s.mscale);
  s.mscale_all_dim = json.real("mscale_all_dim", s.mscale_all_dim);
  s.truncate = json.boolean("truncate", s.truncate);
  s.original_max_position_embeddings =
      json.integer("original_max_position_embeddings", s.original_max_position_embeddings);
}

void read_numbers(Reader& json, ModelSpec& m) {
  m.rms_norm_eps = json.real("rms_norm_eps", m.rms_norm_eps);
  m.initializer_range = json.real("initializer_range", m.initializer_range);
  m.attention_dropout = json.real("attention_dropout", 0);
  m.hidden_dropout = json.real("resid_pdrop", json.real("residual_dropout", 0));
  m.hidden_act = json.text("hidden_activation", json.text("hidden_act", m.hidden_act));
}

/// rope_scaling of transformers 4, rope_parameters of 5, which holds rope_theta, too.
void read_positions(Reader& json, ModelSpec& m) {
  m.rope_theta = json.real("rope_theta", m.rope_theta);
  double rotary_part = json.real("partial_rotary_factor", 1);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* rope = json.object(key);
    if (rope == nullptr) continue;
    Reader inner(*rope);
    read_rope(inner, m);
    rotary_part = inner.real("partial_rotary_factor", rotary_part);
    json.add_wrong(inner, key);
  }
  if (rotary_part < 1 || json.find("no_rope_layers") != nullptr || m.model_type == "smollm3")
    m.positions = Positions::partly_rotary;
}

void read_window(Reader& json, const Family& family, ModelSpec& m) {
  const bool on = !family.window_is_switched || json.boolean("use_sliding_window", false);
  m.sliding_window = on ? json.integer("sliding_window", 0) : 0;
  m.full_attention_interval = family.full_attention_interval;
}

void read_biases(Reader& json, const Family& family, ModelSpec& m) {
  if (family.attention_bias == AttentionBias::from_key)
    m.biases.query_key_value = m.biases.attention_output = json.boolean("attention_bias", false);
  if (family.model_type == "llama") m.biases.mlp = json.boolean("mlp_bias", false);
}

void read_latent_attention(Reader& json, ModelSpec& m) {
  m.latent.q_lora_rank = json.integer("q_lora_rank", 0);
  m.latent.kv_lora_rank = json.dimension("kv_lora_rank");
  m.latent.qk_nope_head_dim = json.dimension("qk_nope_head_dim");
  m.latent.qk_rope_head_dim = json.dimension("qk_rope_head_dim");
  m.latent.v_head_dim = json.dimension("v_head_dim");
  m.head_dim = m.latent.qk_nope_head_dim + m.latent.qk_rope_head_dim;
}

void read_deepseek_experts(Reader& json, ModelSpec& m) {
  auto& e = m.experts;
  e.num_local_experts = json.dimension("n_routed_experts");
  e.moe_intermediate_size = json.dimension("moe_intermediate_size");
  const Index shared = json.integer("n_shared_experts", 0);
  if (shared < 1024 && e.moe_intermediate_size < Index{1} << 40)
    e.shared_intermediate_size = shared * e.moe_intermediate_size;
  e.first_dense_layers = json.integer("first_k_dense_replace", 0);
  e.layer_frequency = json.integer("moe_layer_freq", 1);
  e.correction_bias = json.text("topk_method", "") == "noaux_tc";
}

void read_experts(Reader& json, ExpertNames names, ModelSpec& m) {
  if (names == ExpertNames::none) return;
  auto& e = m.experts;
  e.num_experts_per_tok = json.dimension("num_experts_per_tok");
  if (names == ExpertNames::deepseek) return read_deepseek_experts(json, m);
  const bool qwen = names == ExpertNames::qwen;
  e.num_local_experts = json.dimension(qwen ? "num_experts" : "num_local_experts");
  e.moe_intermediate_size = qwen ? json.dimension("moe_intermediate_size") : m.intermediate_size;
  e.biases = names == ExpertNames::gpt_oss;
}

/// Layers that mix dense and routed MLPs in a way that first_dense_layers cannot say.
bool has_irregular_layers(Reader& json) {
  const Json* dense = json.find("mlp_only_layers");
  const bool listed = dense != nullptr && dense->is_array() && !dense->elements().empty();
  return listed || json.integer("decoder_sparse_step", 1) != 1;
}

std::vector<std::string> owned(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

Result<const Family*> family_of(Reader& json, const std::string& name) {
  const std::string type = json.text("model_type", "");
  if (const Family* family = find_family(type)) return family;
  const std::string known = join_words(owned(model_types()), "or");
  if (type.empty())
    return failure(
        fmt::format("the model \"{}\" has no model_type (it says how the layers are built). use {}",
                    name, known));
  return failure(fmt::format(
      "the model_type \"{}\" of \"{}\" is not known (its weights cannot be counted). use {}, or "
      "give the dimensions under cpplan.model without base_model's folder",
      type, name, known));
}

}  // namespace

Result<HfModel> model_of_hf_config(const Json& config, std::string name) {
  if (!config.is_object())
    return failure(fmt::format(
        "the config.json of \"{}\" is no object (dimensions are its members). write {{...}}",
        name));
  const Json* text = config.find("text_config");
  Reader json(text != nullptr && text->is_object() ? *text : config);
  const auto family = family_of(json, name);
  if (!family) return tl::unexpected(family.error());

  HfModel model;
  ModelSpec& m = model.spec;
  m.name = std::move(name);
  apply_family(**family, m);
  read_dimensions(json, **family, m);
  m.intermediate_size = json.dimension("intermediate_size");
  read_numbers(json, m);
  read_positions(json, m);
  read_window(json, **family, m);
  read_biases(json, **family, m);
  if ((*family)->latent_attention) read_latent_attention(json, m);
  read_experts(json, (*family)->experts, m);
  if (has_irregular_layers(json))
    return failure(fmt::format(
        "\"{}\" has dense layers among the routed ones (mlp_only_layers or decoder_sparse_step). "
        "use a model whose layers route from one layer on",
        m.name));
  if (!json.wrong().empty())
    return failure(fmt::format("the config.json of \"{}\" cannot be used ({}). correct it", m.name,
                               join(json.wrong(), "; ")));
  model.missing = json.missing();
  return model;
}

bool is_model_folder(const fs::path& folder) {
  std::error_code ignored;
  return !folder.empty() && fs::is_regular_file(folder / "config.json", ignored);
}

Result<HfModel> read_model_folder(const fs::path& folder) {
  const fs::path file = folder / "config.json";
  std::error_code unreadable;
  const auto bytes = fs::file_size(file, unreadable);
  if (!unreadable && bytes > most_bytes)
    return failure(fmt::format(
        "{} has {} bytes (a model's config has a few thousand). name the folder of a model",
        file.string(), bytes));
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const auto json = Json::parse(*text);
  if (!json)
    return failure(
        fmt::format("{} is no JSON ({}). correct it", file.string(), json.error().message));
  return model_of_hf_config(*json, folder.string());
}

}  // namespace cpplan::model
