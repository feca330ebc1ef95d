#include "checkpoint/model_folder.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"

namespace cpplan::checkpoint {
namespace {

/// rope_scaling of transformers 4, rope_parameters of 5; both name the type, an old one as "type".
std::string rotary_type(const Json& config) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* rotary = config.find(key);
    if (rotary == nullptr || !rotary->is_object()) continue;
    for (const char* name : {"rope_type", "type"})
      if (const Json* type = rotary->find(name); type && type->is_string())
        return type->as_string();
  }
  return "default";
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

Result<void> check_rotary(const std::filesystem::path& folder) {
  const auto config = read_file(folder / config_name).and_then(Json::parse);
  if (!config) return tl::unexpected(config.error());
  const std::string type = rotary_type(*config);
  if (type == "default") return {};
  return failure(fmt::format(
      "the weights of {} were trained with rotary positions of type \"{}\" (the engine computes "
      "plain ones, and would train them on other positions). name a model without rope_scaling",
      folder.string(), type));
}

}  // namespace cpplan::checkpoint
