#include "diag/render_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diag/render_concise.hpp"

namespace cpplan::diag {
namespace {

constexpr std::string_view bold = "\033[1m", blue = "\033[1;34m", red = "\033[1;31m",
                           yellow = "\033[1;33m", cyan = "\033[1;36m", reset = "\033[0m";

std::string_view severity_color(Severity severity) {
  switch (severity) {
    case Severity::error:
      return red;
    case Severity::warning:
      return yellow;
    case Severity::note:
      break;
  }
  return cyan;
}

/// A source line as shown, and where its marked part begins and ends in columns of the terminal.
struct Excerpt {
  std::string text;
  int begin = 0, end = 0;
};

constexpr int widest_excerpt = 160;  // a file can be one line of a megabyte

Excerpt make_excerpt(std::string_view line, int first_column, int end_column) {
  const std::vector<Glyph> shown = glyphs(line);
  const int count = static_cast<int>(shown.size());
  const int first = std::clamp(first_column - 1, 0, count);
  const int from =
      first > widest_excerpt / 2 && count > widest_excerpt ? first - widest_excerpt / 2 : 0;
  const int to = std::min(count, from + widest_excerpt);
  Excerpt excerpt{from > 0 ? "..." : "", 0, 0};
  int column = from > 0 ? 3 : 0;
  excerpt.begin = excerpt.end = column;
  for (int i = from; i < to; ++i) {
    if (i == first) excerpt.begin = excerpt.end = column;
    excerpt.text += shown[static_cast<std::size_t>(i)].text;
    column += shown[static_cast<std::size_t>(i)].width;
    if (i >= first && i < end_column - 1) excerpt.end = column;
  }
  if (first >= to) excerpt.begin = excerpt.end = column;
  if (to < count) excerpt.text += "...";
  return excerpt;
}

int digits(int n) {
  return static_cast<int>(std::to_string(n).size());
}

class TextRenderer {
 public:
  TextRenderer(std::span<const SourceFile> sources, Color color)
      : sources_(sources), color_(color) {}

  void print(const Diagnostic& d) {
    gutter_ = gutter_width(d);
    print_headline(d);
    print_place("-->", d.span);
    print_excerpt(d.span, '^', severity_color(d.severity), d.label);
    for (const Related& related : d.related) {
      print_place(":::", related.span);
      print_excerpt(related.span, '-', blue, related.message);
    }
    print_notes(d);
    out_ += '\n';
  }

  std::string take() { return std::move(out_); }

 private:
  static int gutter_width(const Diagnostic& d) {
    int widest = std::max(2, digits(d.span.line));
    for (const Related& related : d.related) widest = std::max(widest, digits(related.span.line));
    return widest;
  }

  void print_headline(const Diagnostic& d) {
    out_ += painted(fmt::format("{}[{} {}]", severity_name(d.severity), d.id, d.name),
                    severity_color(d.severity));
    out_ += painted(fmt::format(": {}", d.message), bold) + "\n";
  }

  void print_place(std::string_view arrow, const Span& span) {
    const std::string place = place_text(span);
    if (place.empty()) return;
    out_ += std::string(width(), ' ') + painted(arrow, blue) + " " + place + "\n";
  }

  void print_excerpt(const Span& span, char mark, std::string_view color, std::string_view label) {
    const SourceFile* source = find(span);
    if (source == nullptr) return;
    const bool one_line = span.end_line == span.line;
    const std::string_view line = source->line(span.line);
    const int end_column = one_line ? span.end_column : static_cast<int>(line.size()) + 1;
    const Excerpt excerpt = make_excerpt(line, span.column, end_column);
    print_bar("");
    print_bar(excerpt.text, std::to_string(span.line));
    std::string marks(static_cast<std::size_t>(std::max(1, excerpt.end - excerpt.begin)), mark);
    if (!label.empty()) marks += fmt::format(" {}", label);
    print_bar(std::string(static_cast<std::size_t>(excerpt.begin), ' ') + painted(marks, color));
    excerpt_shown_ = true;
  }

  void print_notes(const Diagnostic& d) {
    if (std::exchange(excerpt_shown_, false)) print_bar("");
    for (const Related& related : d.related)
      if (!related.span.placed()) print_note("note", related.message);
    if (!d.why.empty()) print_note("why", d.why);
    for (const std::string& help : d.help) print_note("help", help);
    print_note("see", "cpplan explain " + d.id);
  }

  void print_bar(std::string_view text, std::string_view number = "") {
    out_ += painted(fmt::format("{:>{}} |", number, gutter_), blue);
    if (!text.empty()) out_ += fmt::format(" {}", text);
    out_ += '\n';
  }

  void print_note(std::string_view kind, std::string_view text) {
    out_ += std::string(width() + 1, ' ') + painted("=", blue) + " " +
            painted(fmt::format("{}:", kind), bold) + fmt::format(" {}\n", text);
  }

  const SourceFile* find(const Span& span) const {
    for (const SourceFile& source : sources_)
      if (span.placed() && source.name() == span.file && span.line <= source.line_count())
        return &source;
    return nullptr;
  }

  std::string painted(std::string_view text, std::string_view color) const {
    if (color_ == Color::never) return std::string(text);
    return fmt::format("{}{}{}", color, text, reset);
  }

  std::size_t width() const { return static_cast<std::size_t>(gutter_); }

  std::span<const SourceFile> sources_;
  Color color_;
  int gutter_ = 2;
  bool excerpt_shown_ = false;
  std::string out_;
};

std::string counted(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace

std::string render_text(const Diagnostics& diagnostics, std::span<const SourceFile> sources,
                        Color color) {
  TextRenderer renderer(sources, color);
  for (const Diagnostic& d : diagnostics) renderer.print(d);
  return renderer.take();
}

std::string summary_line(const Summary& summary, std::string_view where) {
  const std::string notes = summary.notes > 0 ? ", " + counted(summary.notes, "note") : "";
  return fmt::format("{}, {}{} in {}\n", counted(summary.errors, "error"),
                     counted(summary.warnings, "warning"), notes, where);
}

}  // namespace cpplan::diag
