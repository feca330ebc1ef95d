#pragma once
// Findings about keys and the types of their values: CP101 to CP112.
#include "config/document.hpp"

namespace cpplan::config {

/// Every key of an axolotl config against the tables of schema.hpp. Contract: the root is a
/// mapping.
void check_axolotl_keys(const Document& document, diag::Diagnostics& findings);

}  // namespace cpplan::config
