#include "diag/render_concise.hpp"

#include <fmt/format.h>

namespace cpplan::diag {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

std::string place_text(const Span& span) {
  return span.placed() ? fmt::format("{}:{}:{}", span.file, span.line, span.column) : span.file;
}

std::string render_concise(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    const std::string place = place_text(d.span);
    out += fmt::format("{}{}{}[{} {}]: {}\n", place, place.empty() ? "" : ": ",
                       severity_name(d.severity), d.id, d.name, d.message);
  }
  return out;
}

}  // namespace cpplan::diag
