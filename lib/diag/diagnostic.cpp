#include "diag/diagnostic.hpp"

#include <algorithm>
#include <tuple>

namespace cpplan::diag {
namespace {

// Errors first at one place: -severity. The end and the message make the order total.
auto place(const Diagnostic& d) {
  return std::make_tuple(std::string_view(d.span.file), d.span.line, d.span.column,
                         -static_cast<int>(d.severity), std::string_view(d.id), d.span.end_line,
                         d.span.end_column, std::string_view(d.message));
}

}  // namespace

Summary summarize(const Diagnostics& diagnostics) {
  Summary summary;
  for (const Diagnostic& d : diagnostics) switch (d.severity) {
      case Severity::error:
        ++summary.errors;
        break;
      case Severity::warning:
        ++summary.warnings;
        break;
      case Severity::note:
        ++summary.notes;
        break;
    }
  return summary;
}

void sort_by_place(Diagnostics& diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto repeated = [](const auto& a, const auto& b) { return place(a) == place(b); };
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), repeated),
                    diagnostics.end());
}

}  // namespace cpplan::diag
