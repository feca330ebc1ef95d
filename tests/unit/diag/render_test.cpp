#include <doctest/doctest.h>

#include <set>

#include "diag/render_concise.hpp"
#include "diag/render_json.hpp"
#include "diag/render_text.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::diag {
namespace {

std::string text_of(const Diagnostics& diagnostics, const SourceFile& source) {
  return render_text(diagnostics, std::span(&source, 1), Color::never);
}

TEST_CASE("render text: the caret stands under exactly the token") {
  const SourceFile source("train.yaml", "base_model: x\nsequence_len: 4096.5\n");
  const Diagnostic d = finding("CP104", source.span(28, 34), "not an integer",
                               {.label = "an integer is needed", .why = "tokens are whole"});
  CHECK(text_of({d}, source) ==
        "error[CP104 wrong-type]: not an integer\n"
        "  --> train.yaml:2:15\n"
        "   |\n"
        " 2 | sequence_len: 4096.5\n"
        "   |               ^^^^^^ an integer is needed\n"
        "   |\n"
        "   = why: tokens are whole\n"
        "   = see: cpplan explain CP104\n"
        "\n");
}

TEST_CASE("render text: related places and help") {
  std::string text;
  for (int i = 1; i < 100; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const SourceFile source("t.yaml", text + "k1: 2\n");
  Diagnostic d =
      finding("CP003", Span{"t.yaml", 100, 1, 100, 3}, "duplicate",
              {.help = {"keep one"}, .related = {{"first", Span{"t.yaml", 1, 1, 1, 3}}}});
  CHECK(text_of({d}, source) ==
        "error[CP003 duplicate-key]: duplicate\n"
        "   --> t.yaml:100:1\n"
        "    |\n"
        "100 | k1: 2\n"
        "    | ^^\n"
        "   ::: t.yaml:1:1\n"
        "    |\n"
        "  1 | k1: 1\n"
        "    | -- first\n"
        "    |\n"
        "    = help: keep one\n"
        "    = see: cpplan explain CP003\n"
        "\n");
}

TEST_CASE("render text: carets count columns of the terminal") {
  const SourceFile source("t.yaml", "a:\té 漢字: x\n");
  const std::size_t x = source.text().find('x');
  const std::string text = text_of({finding("CP104", source.span(x, x + 1), "m")}, source);
  CHECK(text.find(" 1 | a:  é 漢字: x\n   |             ^\n") != std::string::npos);
  const std::size_t wide = source.text().find("漢");
  const std::string marked = text_of({finding("CP104", source.span(wide, wide + 6), "m")}, source);
  CHECK(marked.find("   |       ^^^^\n") != std::string::npos);
}

TEST_CASE("render text: no place no excerpt and no escape gets through") {
  const SourceFile source("t.yaml", "a: \x1b[31m\n");
  const std::string without = text_of({finding("CP105", Span{"t.yaml"}, "missing")}, source);
  CHECK(without ==
        "error[CP105 missing-key]: missing\n  --> t.yaml\n   = see: cpplan explain CP105\n\n");
  const std::string shown = text_of({finding("CP004", source.span(3, 4), "m")}, source);
  CHECK(shown.find('\x1b') == std::string::npos);
}

TEST_CASE("render text: a very long line is cut around the caret") {
  const SourceFile source("t.yaml", "a: " + std::string(5000, 'x') + "Y" + std::string(5000, 'x'));
  const std::string text = text_of({finding("CP104", source.span(5003, 5004), "m")}, source);
  CHECK(text.size() < 700);
  const auto line = text.find("...");
  const auto y = text.find('Y'), caret = text.find('^');
  REQUIRE(line != std::string::npos);
  CHECK(y - text.rfind('\n', y) == caret - text.rfind('\n', caret));
}

TEST_CASE("render text: colours are escapes around the same text") {
  const SourceFile source("t.yaml", "a: b\n");
  const Diagnostics findings = {finding("CP104", source.span(3, 4), "m", {.label = "l"})};
  std::string coloured = render_text(findings, std::span(&source, 1), Color::always);
  CHECK(coloured.find("\033[1;31m") != std::string::npos);
  for (auto at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  CHECK(coloured == text_of(findings, source));
}

TEST_CASE("summary line: counts with their plural") {
  CHECK(summary_line({3, 0, 0}, "train.yaml") == "3 errors, 0 warnings in train.yaml\n");
  CHECK(summary_line({1, 1, 2}, "2 files") == "1 error, 1 warning, 2 notes in 2 files\n");
}

TEST_CASE("render concise: one line a finding") {
  CHECK(render_concise({finding("CP108", Span{"t.yaml", 7, 3, 7, 4}, "m"),
                        finding("CP105", Span{"t.yaml"}, "n"), finding("CP130", Span{}, "o")}) ==
        "t.yaml:7:3: warning[CP108 octal-number]: m\n"
        "t.yaml: error[CP105 missing-key]: n\n"
        "error[CP130 override-syntax]: o\n");
}

TEST_CASE("render json: the document has schema summary and every field") {
  const Diagnostics findings = {finding(
      "CP003", Span{"t.yaml", 9, 1, 9, 4}, "m",
      {.label = "l", .why = "w", .help = {"h"}, .related = {{"r", Span{"t.yaml", 2, 1, 2, 4}}}})};
  const Json document = validate_document(findings);
  CHECK(document.at_path("schema")->as_string() == "cpplan/validate/1");
  CHECK(document.at_path("summary")->dump(-1) == R"({"errors": 1, "warnings": 0, "notes": 0})");
  CHECK(
      document.at_path("diagnostics.0")->dump(-1) ==
      R"({"id": "CP003", "name": "duplicate-key", "severity": "error", "message": "m", "label": "l", )"
      R"("span": {"file": "t.yaml", "line": 9, "column": 1, "end_line": 9, "end_column": 4}, )"
      R"("related": [{"message": "r", "span": {"file": "t.yaml", "line": 2, "column": 1, )"
      R"("end_line": 2, "end_column": 4}}], "why": "w", "help": ["h"], )"
      R"("explain": "cpplan explain CP003"})");
  CHECK(validate_document({}).at_path("diagnostics")->dump() == "[]");
}

TEST_CASE("diagnostics: sorted by place then severity and repeated ones drop") {
  const Span early{"a", 1, 2, 1, 3}, late{"a", 2, 1, 2, 2}, other{"b", 1, 1, 1, 2};
  Diagnostics all = {finding("CP104", other, "m"), finding("CP104", late, "m"),
                     finding("CP108", early, "m"), finding("CP104", early, "m"),
                     finding("CP104", early, "m")};
  sort_by_place(all);
  REQUIRE(all.size() == 4);
  CHECK(all[0].id == "CP104");
  CHECK(all[1].id == "CP108");
  CHECK(all[2].span == late);
  CHECK(all[3].span == other);
  CHECK(summarize(all).errors == 3);
  CHECK(summarize(all).warnings == 1);
}

TEST_CASE("rule table: ids and names are unique and found") {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) {
    CAPTURE(rule.id);
    CHECK(rule.id.size() == 5);
    CHECK(rule.id.starts_with("CP"));
    CHECK(names.insert(rule.name).second);
    CHECK(find_rule(rule.id) == &rule);
    CHECK(find_rule(rule.name) == &rule);
    CHECK_FALSE(rule.summary.empty());
  }
  CHECK(find_rule("CP999") == nullptr);
}

}  // namespace
}  // namespace cpplan::diag
