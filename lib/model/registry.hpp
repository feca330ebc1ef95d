#pragma once
// Models whose dimensions are known by name, so that a config needs none of them. In the binary:
// a plan does not depend on where cpplan is installed.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_spec.hpp"

namespace cpplan::model {

/// By its name ("Llama-3.1-8B") or a hub id of it or of a copy ("NousResearch/Meta-Llama-3.1-8B",
/// "meta-llama/Llama-3.1-8B-Instruct"), in any letter case. None for folders ("./models/x").
std::optional<ModelSpec> find_model(std::string_view name);

/// Names that an unknown one was probably meant to be, best first.
std::vector<std::string> models_like(std::string_view name);

/// Names of all models of the registry.
std::vector<std::string> model_names();

}  // namespace cpplan::model
