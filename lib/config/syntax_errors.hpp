#pragma once
// The parser's complaints in words that say what to type instead.
#include <cstddef>
#include <string_view>

#include "diag/source_file.hpp"

namespace cpplan::config {

/// CP001, or CP006 for an alias without anchor. `reason` is what the parser said at byte `at`.
diag::Diagnostic syntax_finding(const diag::SourceFile& source, std::size_t at,
                                std::string_view reason);

/// After a parse that failed: a tab or an invisible character in front of the error is its cause,
/// so only that stays; what stands behind the error was never parsed and proves nothing.
void drop_followers(diag::Diagnostics& characters, diag::Diagnostics& syntax);

}  // namespace cpplan::config
