#pragma once
// axolotl's keys, and ours beside them, into the TrainingConfig that is the same for every dialect.
#include "config/document.hpp"
#include "config/training_config.hpp"

namespace cpplan::config {

/// Values that do not read as their type are left out: check_axolotl_keys has said why.
/// Contract: the root is a mapping.
TrainingConfig read_axolotl(const Document& document, const std::string& file);

}  // namespace cpplan::config
