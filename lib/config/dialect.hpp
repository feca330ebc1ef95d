#pragma once
// Which framework a config is written for.
#include <optional>

#include "config/document.hpp"
#include "config/training_config.hpp"

namespace cpplan::config {

/// By the keys: base_model and the sections of Megatron's forms decide alone, else the dialect with
/// more keys that the other does not know. None where nothing makes it a training config. Contract:
/// the root is a mapping.
std::optional<Dialect> detect_dialect(const Node& root);

}  // namespace cpplan::config
