#pragma once
// A model's dimensions out of Hugging Face's config.json.
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/model_spec.hpp"

namespace cpplan::model {

struct HfModel {
  ModelSpec spec;                    // 0 in a dimension that is missing
  std::vector<std::string> missing;  // keys without which the model is not known
};

/// Of a decoder whose model_type is known; of a multi-modal one its text_config. Error: no object,
/// no or an unknown model_type, a value of the wrong type.
Result<HfModel> model_of_hf_config(const Json& config, std::string name);

/// config.json of a local folder, at most 1 MiB of it. Error: as above, or unreadable, or no JSON.
Result<HfModel> read_model_folder(const std::filesystem::path& folder);

/// Whether a base_model means a folder of this machine: it has a config.json.
bool is_model_folder(const std::filesystem::path& folder);

}  // namespace cpplan::model
