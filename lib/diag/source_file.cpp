#include "diag/source_file.hpp"

#include <algorithm>

#include "base/contract.hpp"
#include "diag/unicode.hpp"

namespace cpplan::diag {

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), starts_{0} {
  for (std::size_t at = text_.find('\n'); at != text_.npos; at = text_.find('\n', at + 1))
    starts_.push_back(at + 1);
}

std::string_view SourceFile::line(int n) const {
  if (n < 1 || n > line_count()) return {};
  const std::size_t index = static_cast<std::size_t>(n) - 1;
  const std::size_t end = index + 1 < starts_.size() ? starts_[index + 1] - 1 : text_.size();
  std::string_view line(text_.data() + starts_[index], end - starts_[index]);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Position SourceFile::position(std::size_t offset) const {
  expect(offset <= text_.size(), "a position lies in its file");
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const std::size_t start = *std::prev(after);
  const std::string_view before(text_.data() + start, offset - start);
  return {static_cast<int>(after - starts_.begin()), 1 + count_code_points(before)};
}

Span SourceFile::span(std::size_t begin, std::size_t end) const {
  const Position first = position(begin), last = position(std::max(begin, end));
  return {name_, first.line, first.column, last.line, last.column};
}

std::vector<Glyph> glyphs(std::string_view line) {
  constexpr int tab_stop = 4;
  std::vector<Glyph> shown;
  int column = 0;
  while (!line.empty()) {
    const CodePoint c = take_code_point(line);
    Glyph glyph{std::string(c.bytes), display_width(c.value)};
    if (c.value == '\t') {
      glyph.width = tab_stop - column % tab_stop;
      glyph.text.assign(static_cast<std::size_t>(glyph.width), ' ');
    } else if (!c.valid || is_control(c.value)) {
      glyph = {"\uFFFD", 1};
    }
    column += glyph.width;
    shown.push_back(std::move(glyph));
  }
  return shown;
}

}  // namespace cpplan::diag
