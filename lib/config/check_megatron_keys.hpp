#pragma once
// Findings about the keys of a Megatron config and the types of their values.
#include "config/document.hpp"

namespace cpplan::config {

/// CP101 to CP114, CP124, CP125 for every argument of the file in any of the three forms. Contract:
/// the root is a mapping.
void check_megatron_keys(const Document& document, diag::Diagnostics& findings);

}  // namespace cpplan::config
