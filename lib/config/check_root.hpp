#pragma once
// Whether a document is a training config at all.
#include <string>

#include "config/document.hpp"

namespace cpplan::config {

enum class Role { whole, part };  // a config by itself, or with something else on or under it

/// CP009, CP010: an empty file, or a top level that is no mapping. True where the root is a mapping
/// with members, or empty beside other parts.
bool check_root(const Document& document, const std::string& file, Role role,
                diag::Diagnostics& findings);

/// CP118. Contract: the root is a mapping with members.
void report_other_file(const Node& root, diag::Diagnostics& findings);

}  // namespace cpplan::config
