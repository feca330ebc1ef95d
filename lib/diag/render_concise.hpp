#pragma once
// One line a finding, what editors and grep read.
#include <string>
#include <string_view>

#include "diag/diagnostic.hpp"

namespace cpplan::diag {

/// "train.yaml:7:7: error[CP301 cp-divides-sequence]: message", each with its line break.
std::string render_concise(const Diagnostics& diagnostics);

/// "error", "warning" or "note".
std::string_view severity_name(Severity severity);

/// "file:line:column", "file" where there is no line, "" where there is neither.
std::string place_text(const Span& span);

}  // namespace cpplan::diag
