#include "config/syntax_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostic;
using diag::finding;

struct Translation {
  std::string_view said;  // part of the parser's message
  std::string_view meaning, help;
};

constexpr std::array translations = {
    Translation{"illegal map value",
                "a second `: ` in one line (a value cannot hold a mapping here)",
                "quote the value: key: \"text: with a colon\""},
    Translation{"illegal block entry", "a list item is not allowed here",
                "put `- ` on a line of its own, under its key"},
    Translation{"illegal map key", "a key is not allowed here", "put the key on a line of its own"},
    Translation{"illegal flow end", "a closing bracket without an opening one", "remove it"},
    Translation{
        "end of map not found",
        "this line does not fit the mapping above it (its indentation or its `key: ` is off)",
        "indent it like its siblings, and put a space after the colon"},
    Translation{"end of map flow not found", "a `{` is never closed", "close it with `}`"},
    Translation{"end of sequence not found",
                "this line does not fit the list above it (every item begins with `- `)",
                "indent it like its siblings"},
    Translation{"end of sequence flow not found", "a `[` is never closed", "close it with `]`"},
    Translation{"illegal EOF in scalar", "a quote is never closed", "close it"},
    Translation{"illegal document indicator in scalar", "a quote is never closed", "close it"},
    Translation{"illegal tab when looking for indentation", "a tab used for indentation",
                "indent with spaces"},
    Translation{"unknown token",
                "a character that cannot begin a value (`@` and the backquote are "
                "reserved)",
                "quote the value"},
    Translation{"unknown escape character",
                "an escape that YAML does not have in a double-quoted text",
                "write `\\\\` for a backslash, or use single quotes"},
    Translation{"alias not found after *", "`*` begins an alias, and no name follows",
                "quote the value"},
    Translation{"anchor not found after &", "`&` begins an anchor, and no name follows",
                "quote the value"},
    Translation{"cannot assign multiple anchors", "two anchors on one value", "keep one of them"},
    Translation{"cannot assign multiple tags", "two tags on one value", "keep one of them"},
    Translation{"aliases can't have any content", "an alias followed by a value",
                "remove the one or the other"},
};

const Translation* translate(std::string_view reason) {
  const auto found = std::find_if(translations.begin(), translations.end(), [&](const auto& t) {
    return reason.find(t.said) != std::string_view::npos;
  });
  return found == translations.end() ? nullptr : &*found;
}

Diagnostic undefined_alias(const diag::SourceFile& source, std::size_t at) {
  const std::string_view text = source.text();
  const std::size_t end = std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
  const std::string_view name = text.substr(at + 1, end - at - 1);
  return finding("CP006", source.span(at, end),
                 fmt::format("undefined alias \"{0}\" (no value above carries the anchor &{0}). "
                             "write the value itself, or quote it if the star is text",
                             name));
}

bool stands_behind(const Diagnostic& a, const Diagnostic& b) {
  return a.span.line > b.span.line;
}

/// The parser stops at the colon of a line that is in order when the line above has none: the two
/// read as one text. The number of that line above, or 0.
int line_without_colon(const diag::SourceFile& source, std::size_t at) {
  const diag::Position place = source.position(at);
  const std::string_view line = source.line(place.line);
  if (line.substr(0, line.find(": ")).size() + 1 < static_cast<std::size_t>(place.column)) return 0;
  for (int n = place.line - 1; n > 0; --n) {
    const std::string_view above = trimmed(source.line(n));
    if (above.empty() || above.starts_with('#')) continue;
    return above.find(':') == above.npos && !above.starts_with("- ") ? n : 0;
  }
  return 0;
}

Diagnostic missing_colon(const diag::SourceFile& source, int line) {
  const std::string_view text = source.line(line), words = trimmed(text);
  const auto begin = static_cast<std::size_t>(words.data() - source.text().data());
  const std::size_t gap = std::min(words.find_first_of(" \t="), words.size());
  const std::string_view rest = trimmed(words.substr(std::min(gap + 1, words.size())));
  return finding("CP001", source.span(begin, begin + words.size()),
                 fmt::format("no colon in line {} (a line of a mapping is a key, a colon and a "
                             "space). write {}: {}",
                             line, words.substr(0, gap), rest.empty() ? "value" : rest));
}

}  // namespace

Diagnostic syntax_finding(const diag::SourceFile& source, std::size_t at, std::string_view reason) {
  const std::string_view text = source.text();
  if (reason.find("anchor is not defined") != reason.npos && at < text.size() && text[at] == '*')
    return undefined_alias(source, at);
  if (reason.find("illegal map value") != reason.npos && at < text.size())
    if (const int line = line_without_colon(source, at)) return missing_colon(source, line);
  // At the end of the file the place to look at is the last character.
  if (at > 0 && at >= text.size()) at = std::min(text.find_last_not_of(" \t\r\n"), text.size() - 1);
  const auto span = source.span(at, std::min(at + 1, text.size()));
  if (const Translation* known = translate(reason))
    return finding("CP001", span, fmt::format("{}. {}", known->meaning, known->help),
                   {.why = "the framework's YAML reader stops at the first such place"});
  return finding("CP001", span, fmt::format("not readable as YAML ({})", lower_case(reason)));
}

void drop_followers(diag::Diagnostics& characters, diag::Diagnostics& syntax) {
  const auto error = std::find_if(syntax.begin(), syntax.end(),
                                  [](const Diagnostic& d) { return d.id == "CP001"; });
  if (error == syntax.end()) return;
  std::erase_if(characters, [&](const Diagnostic& d) { return stands_behind(d, *error); });
  const bool explained = std::any_of(characters.begin(), characters.end(), [](const Diagnostic& d) {
    return d.severity == diag::Severity::error;
  });
  if (explained) syntax.erase(error);
}

}  // namespace cpplan::config
