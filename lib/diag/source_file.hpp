#pragma once
// The text that findings point into: byte offsets to lines and columns, and columns to what a
// terminal shows.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"

namespace cpplan::diag {

/// 1-based; the column counts code points.
struct Position {
  int line = 0, column = 0;
};

class SourceFile {
 public:
  SourceFile() : SourceFile("", "") {}
  /// `text` is UTF-8; bytes that are not count as one code point each.
  SourceFile(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  int line_count() const { return static_cast<int>(starts_.size()); }

  /// Line n without its line break; empty outside 1..line_count().
  std::string_view line(int n) const;
  /// Contract: offset <= size of the text.
  Position position(std::size_t offset) const;
  /// Of the bytes [begin, end).
  Span span(std::size_t begin, std::size_t end) const;

 private:
  std::string name_, text_;
  std::vector<std::size_t> starts_;  // byte offset of each line
};

/// One character of a line, and the columns that a terminal gives it.
struct Glyph {
  std::string text;
  int width = 1;
};

/// What a terminal shows of a line: tabs as spaces up to the next stop of four, control characters
/// as U+FFFD, wide characters two columns, combining ones none.
std::vector<Glyph> glyphs(std::string_view line);

}  // namespace cpplan::diag
