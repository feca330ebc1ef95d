#pragma once
// Findings as people read them: the source line, a caret under exactly the token, the reason and
// what would work.
#include <span>
#include <string>

#include "diag/diagnostic.hpp"
#include "diag/source_file.hpp"

namespace cpplan::diag {

enum class Color { never, always };

/// All findings, a blank line after each. A finding whose file is not among `sources` shows no
/// source line.
std::string render_text(const Diagnostics& diagnostics, std::span<const SourceFile> sources,
                        Color color);

/// "3 errors, 0 warnings in train.yaml", with its line break; `where` names the file or "4 files".
std::string summary_line(const Summary& summary, std::string_view where);

}  // namespace cpplan::diag
