#pragma once
// A finding about the user's input, as data. Renderers print it; nothing else does.
#include <string>
#include <vector>

namespace cpplan::diag {

/// A stretch of source text, 1-based, end exclusive, columns in characters (code points).
/// line 0: the finding has no place in a file.
struct Span {
  std::string file;
  int line = 0, column = 0, end_line = 0, end_column = 0;
  bool placed() const { return line > 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

enum class Severity { note, warning, error };

/// A second place that belongs to the finding.
struct Related {
  std::string message;
  Span span;
};

struct Diagnostic {
  std::string id, name;  // "CP301", "cp-divides-sequence": fixed in the table of rules
  Severity severity = Severity::error;
  std::string message;  // makes sense alone, on one line
  std::string label;    // what stands under the caret; may be empty
  Span span;
  std::vector<Related> related;
  std::string why;                // one sentence
  std::vector<std::string> help;  // each names a value that would work
};

using Diagnostics = std::vector<Diagnostic>;

struct Summary {
  int errors = 0, warnings = 0, notes = 0;
};
Summary summarize(const Diagnostics&);

/// Sorts by file, line, column, then severity and id; drops exact repetitions.
void sort_by_place(Diagnostics&);

}  // namespace cpplan::diag
