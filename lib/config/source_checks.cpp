#include "config/source_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "diag/rule_table.hpp"
#include "diag/unicode.hpp"

namespace cpplan::config {
namespace {

using diag::CodePoint;
using diag::Diagnostics;
using diag::finding;
using diag::SourceFile;
using diag::take_code_point;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_utf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
         (text.size() >= 2 && (text[0] == '\0') != (text[1] == '\0'));
}

/// PyYAML's printable characters.
bool is_readable(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r' || c == 0x85) return true;
  return !diag::is_control(c) && c != 0xFFFE && c != 0xFFFF;
}

diag::Diagnostic unreadable_character(const SourceFile& source, const CodePoint& c) {
  const auto offset = static_cast<std::size_t>(c.bytes.data() - source.text().data());
  const auto span = source.span(offset, offset + c.bytes.size());
  if (c.valid)
    return finding("CP004", span,
                   fmt::format("control character {} (YAML does not allow it). remove it",
                               diag::code_point_name(c.value)));
  return finding(
      "CP004", span,
      fmt::format("byte 0x{:02X} is not UTF-8 (the file has another encoding). save it as "
                  "UTF-8",
                  static_cast<unsigned>(c.value)));
}

bool is_zero_width(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x2060 && c <= 0x2064) || c == 0xFEFF || c == 0xAD ||
         (c >= 0x202A && c <= 0x202E);
}

bool is_odd_space(char32_t c) {
  return c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

diag::Diagnostic tab_finding(diag::Span span) {
  return finding("CP002", span,
                 fmt::format("tab character in line {} (YAML takes no tab between tokens). use "
                             "spaces",
                             span.line),
                 {.label = "a tab",
                  .why = "PyYAML stops here with \"found character '\\t' that cannot start any "
                         "token\""});
}

diag::Diagnostic zero_width_finding(diag::Span span, char32_t c) {
  return finding("CP005", span,
                 fmt::format("invisible character {} (it becomes part of the key or value). delete "
                             "it",
                             diag::code_point_name(c)),
                 {.label = diag::code_point_name(c) + " stands here"});
}

diag::Diagnostic odd_space_finding(diag::Span span, char32_t c) {
  return finding(
      "CP015", span,
      fmt::format("{} {} (YAML reads it as a letter, not as a space). type a plain space",
                  c == 0xA0 ? "no-break space" : "space character", diag::code_point_name(c)),
      {.label = diag::code_point_name(c) + " stands here"});
}

/// Walks over the text outside of opaque stretches and comments.
class CharacterScan {
 public:
  CharacterScan(const SourceFile& source, const std::vector<Stretch>& opaque, Diagnostics& findings)
      : source_(source), text_(source.text()), opaque_(opaque), findings_(findings) {}

  void run() {
    for (std::size_t at = 0; at < text_.size();) {
      if (next_ < opaque_.size() && at >= opaque_[next_].begin)
        at = std::max(at, opaque_[next_++].end);
      else if (starts_comment(at))
        at = std::min(text_.find('\n', at), text_.size());
      else
        at = check(at);
    }
  }

 private:
  bool starts_comment(std::size_t at) const {
    if (text_[at] != '#') return false;
    return at == 0 || std::string_view(" \t\n\r").find(text_[at - 1]) != std::string_view::npos;
  }

  /// The character at `at`, or the run of tabs; the offset behind it.
  std::size_t check(std::size_t at) {
    std::string_view rest = text_.substr(at);
    const CodePoint c = take_code_point(rest);
    std::size_t end = at + c.bytes.size();
    if (c.value == '\t') {
      end = std::min(text_.find_first_not_of('\t', at), text_.size());
      findings_.push_back(tab_finding(source_.span(at, end)));
    } else if (is_zero_width(c.value)) {
      findings_.push_back(zero_width_finding(source_.span(at, end), c.value));
    } else if (is_odd_space(c.value)) {
      findings_.push_back(odd_space_finding(source_.span(at, end), c.value));
    }
    return end;
  }

  const SourceFile& source_;
  std::string_view text_;
  const std::vector<Stretch>& opaque_;
  Diagnostics& findings_;
  std::size_t next_ = 0;
};

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

std::size_t word_end(std::string_view text, std::size_t at) {
  return std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
}

}  // namespace

std::string with_line_feeds(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) text[i] = '\n';
  // The bytes of a longer line break become spaces in front of the line feed.
  for (const std::string_view line_break : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"})
    for (auto at = text.find(line_break); at != text.npos; at = text.find(line_break, at)) {
      text.replace(at, line_break.size(), line_break.size(), ' ');
      text[at + line_break.size() - 1] = '\n';
    }
  return text;
}

void check_directives(const diag::SourceFile& source, diag::Diagnostics& findings) {
  bool has_directive = false;
  for (int n = 1; n <= source.line_count(); ++n) {
    const std::string_view line = source.line(n);
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    if (line.starts_with('%')) {
      has_directive = true;
      continue;
    }
    if (!has_directive || line.starts_with("---")) return;
    findings.push_back(diag::finding(
        "CP001", {source.name(), n, 1, n, 2},
        "no `---` between the % directives and the document (they need it). write --- on a line "
        "of its own, or remove the directives"));
    return;
  }
}

std::string without_byte_order_mark(std::string text) {
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

bool check_encoding(const SourceFile& source, Diagnostics& findings) {
  const std::string_view text = source.text();
  const diag::Span whole{source.name()};
  if (text.size() > max_file_size) {
    findings.push_back(finding("CP004", whole,
                               fmt::format("the file holds {} (a config is text of a few KiB; at "
                                           "most {} are read). give the config itself",
                                           human_bytes({static_cast<Index>(text.size())}),
                                           human_bytes({static_cast<Index>(max_file_size)}))));
    return false;
  }
  if (is_utf16(text)) {
    findings.push_back(finding(
        "CP004", whole,
        "the file is UTF-16 (the framework opens it as UTF-8 and stops). save it as UTF-8"));
    return false;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint c = take_code_point(rest);
    if (c.valid && is_readable(c.value)) continue;
    findings.push_back(unreadable_character(source, c));
    return false;
  }
  return true;
}

void check_characters(const SourceFile& source, const std::vector<Stretch>& opaque,
                      Diagnostics& findings) {
  CharacterScan(source, opaque, findings).run();
}

std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (at >= text.size() || text[at] != '#') break;
    at = line_end(text, at);
  }
  return at;
}

std::size_t skip_properties(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!'))
    at = skip_blank(text, word_end(text, at));
  return std::min(at, text.size());
}

std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (text[i] == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == '\'')
      ++i;
    else if (text[i] == quote)
      return i + 1;
  }
  return text.size();
}

std::size_t block_end(std::string_view text, std::size_t at) {
  std::size_t end = line_end(text, at);
  std::size_t indent = 0;  // of the first line with text
  for (std::size_t line = end + 1; line < text.size(); line = line_end(text, line) + 1) {
    const std::size_t first = std::min(text.find_first_not_of(' ', line), text.size());
    const bool blank = first == text.size() || text[first] == '\n' || text[first] == '\r';
    if (!blank && indent == 0) indent = first - line;
    if (!blank && (indent == 0 || first - line < indent)) break;
    if (!blank) end = line_end(text, line);
  }
  return end;
}

std::size_t plain_end(std::string_view text, std::size_t at, std::string_view value) {
  const std::size_t most = std::min(value.size(), text.size() - at);
  std::size_t length = 0;
  while (length < most && text[at + length] == value[length]) ++length;
  const std::string_view first_line = text.substr(at, length);
  return at + first_line.substr(0, first_line.find_last_not_of(" \t\r\n") + 1).size();
}

}  // namespace cpplan::config
