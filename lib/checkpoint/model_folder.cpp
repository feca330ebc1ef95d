#include "checkpoint/model_folder.hpp"

#include "base/json.hpp"

namespace cpplan::checkpoint {
namespace {

/// As transformers 4 writes it, which 5 reads, too.
Json rope_scaling_json(const model::RopeScaling& s) {
  Json json = Json::object();
  json["rope_type"] = s.type;
  json["factor"] = s.factor;
  if (s.original_max_position_embeddings > 0)
    json["original_max_position_embeddings"] = s.original_max_position_embeddings;
  if (s.type == "llama3") {
    json["low_freq_factor"] = s.low_freq_factor;
    json["high_freq_factor"] = s.high_freq_factor;
  }
  if (s.type != "yarn") return json;
  json["beta_fast"] = s.beta_fast;
  json["beta_slow"] = s.beta_slow;
  json["truncate"] = s.truncate;
  if (s.attention_factor > 0) json["attention_factor"] = s.attention_factor;
  if (s.mscale > 0) json["mscale"] = s.mscale;
  if (s.mscale_all_dim > 0) json["mscale_all_dim"] = s.mscale_all_dim;
  return json;
}

}  // namespace

std::string hf_config(const model::ModelSpec& m, ElementType type) {
  Json json = Json::object();
  json["architectures"] = Json(Json::Array{"LlamaForCausalLM"});
  json["model_type"] = "llama";
  json["hidden_size"] = m.hidden_size;
  json["intermediate_size"] = m.intermediate_size;
  json["num_hidden_layers"] = m.num_hidden_layers;
  json["num_attention_heads"] = m.num_attention_heads;
  json["num_key_value_heads"] = m.num_key_value_heads;
  json["head_dim"] = m.head_dim;
  json["vocab_size"] = m.vocab_size;
  if (m.max_position_embeddings > 0) json["max_position_embeddings"] = m.max_position_embeddings;
  json["rope_theta"] = m.rope_theta;
  if (m.rope_scaling.type != "default") json["rope_scaling"] = rope_scaling_json(m.rope_scaling);
  json["rms_norm_eps"] = m.rms_norm_eps;
  json["hidden_act"] = "silu";
  json["initializer_range"] = m.initializer_range;
  json["attention_dropout"] = m.attention_dropout;
  json["attention_bias"] = false;
  json["mlp_bias"] = false;
  json["tie_word_embeddings"] = m.tie_word_embeddings;
  json["bos_token_id"] = nullptr;
  json["eos_token_id"] = nullptr;
  json["torch_dtype"] = torch_name_of(type);
  return json.dump() + "\n";
}

bool has_weights(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / weights_index_name, ignored) ||
         std::filesystem::exists(folder / "model.safetensors", ignored);
}

}  // namespace cpplan::checkpoint
