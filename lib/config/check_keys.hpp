#pragma once
// Findings about keys and the types of their values: CP101 to CP112.
#include "config/document.hpp"

namespace cpplan::config {

/// Unknown keys of a file that are compared with every known one.
inline constexpr std::size_t most_suggestions = 50;

/// Every key of an axolotl config against the tables of schema.hpp. Contract: the root is a
/// mapping.
void check_axolotl_keys(const Document& document, diag::Diagnostics& findings);

/// Our own keys in a config of any dialect: data_parallel_size and everything below cpplan:.
void check_own_keys(const Node& root, diag::Diagnostics& findings);

}  // namespace cpplan::config
