#pragma once
// --set key=value on top of a file.
#include <span>
#include <string>

#include "config/document.hpp"

namespace cpplan::config {

/// "cpplan.model.hidden_size", "datasets.0.path" and the text of the value, read as YAML.
struct Override {
  std::string key, value;
};

/// File name of what an override brings; such spans have no line.
constexpr const char* override_source = "--set";

/// Puts the values into the tree, in order. CP130 where the key has no place or the value is no
/// YAML. Contract: the root is a mapping.
void apply_overrides(Document& document, std::span<const Override> overrides,
                     diag::Diagnostics& findings);

}  // namespace cpplan::config
