#pragma once
// What makes a folder of safetensors files a model of Hugging Face's library: its config.json.
#include <filesystem>
#include <string>

#include "checkpoint/element_type.hpp"
#include "model/model_spec.hpp"

namespace cpplan::checkpoint {

inline constexpr std::string_view config_name = "config.json";
inline constexpr std::string_view weights_index_name = "model.safetensors.index.json";

/// Text of a LlamaForCausalLM's config.json, whose weights are of `type`.
std::string hf_config(const model::ModelSpec&, ElementType type);

/// Whether the folder has weights, too; a config.json alone gives dimensions.
bool has_weights(const std::filesystem::path& folder);

}  // namespace cpplan::checkpoint
