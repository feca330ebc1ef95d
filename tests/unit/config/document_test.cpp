#include "config/document.hpp"

#include <doctest/doctest.h>

#include "config/source_checks.hpp"

namespace cpplan::config {
namespace {

struct Parsed {
  diag::SourceFile source;
  diag::Diagnostics findings;
  Document document;
};

Parsed parse(std::string text) {
  Parsed parsed{diag::SourceFile("t", std::move(text)), {}, {}};
  if (check_encoding(parsed.source, parsed.findings))
    parsed.document = parse_document(parsed.source, parsed.findings);
  return parsed;
}

const Member& member(const Parsed& parsed, std::string_view key) {
  const Member* found = parsed.document.root.node->find(key);
  REQUIRE(found != nullptr);
  return *found;
}

std::string text_at(const Parsed& parsed, const diag::Span& span) {
  if (span.line != span.end_line) return "<lines>";
  const auto shown = diag::glyphs(parsed.source.line(span.line));
  std::string text;
  for (int i = span.column; i < span.end_column; ++i)
    text += shown[static_cast<std::size_t>(i - 1)].text;
  return text;
}

TEST_CASE("document: spans cover exactly the written value") {
  const Parsed p = parse(
      "é: plain text # comment\n"
      "b: 'it''s'\n"
      "c: \"a \\\" b\"   \n"
      "d: [1, {x: 2}, ]\n"
      "e: &anchor !!str 5\n"
      "f: *anchor\n"
      "g:\n"
      "h: ~\n"
      "\"quoted key\": v\n"
      "i: {a: b,\n"
      "    c: d} # end\n");
  REQUIRE(p.findings.empty());
  CHECK(text_at(p, member(p, "é").key_span) == "é");
  CHECK(text_at(p, member(p, "é").value.span) == "plain text");
  CHECK(text_at(p, member(p, "b").value.span) == "'it''s'");
  CHECK(member(p, "b").value.node->text == "it's");
  CHECK(text_at(p, member(p, "c").value.span) == "\"a \\\" b\"");
  CHECK(text_at(p, member(p, "d").value.span) == "[1, {x: 2}, ]");
  CHECK(text_at(p, member(p, "e").value.span) == "5");
  CHECK(text_at(p, member(p, "f").value.span) == "*anchor");
  CHECK(member(p, "f").value.node == member(p, "e").value.node);
  CHECK(member(p, "g").value.node->is_null());
  CHECK(member(p, "g").value.span == diag::Span{"t", 7, 3, 7, 3});
  CHECK(text_at(p, member(p, "h").value.span) == "~");
  CHECK(text_at(p, member(p, "quoted key").key_span) == "\"quoted key\"");
  CHECK(member(p, "i").value.span == diag::Span{"t", 10, 4, 11, 10});
}

TEST_CASE("document: block scalars and block collections") {
  const Parsed p = parse("a: |\n  one\n\n  two\nb:\n  - x\n  - y: 1\n    z: 2\nc: null\nnull: 3\n");
  REQUIRE(p.findings.empty());
  CHECK(member(p, "a").value.node->text == "one\n\ntwo\n");
  CHECK(member(p, "a").value.span == diag::Span{"t", 1, 4, 4, 6});
  CHECK(member(p, "b").value.span == diag::Span{"t", 6, 3, 8, 9});
  CHECK(text_at(p, member(p, "c").value.span) == "null");
}

TEST_CASE("document: an empty value in front of a key called null") {
  const Parsed p = parse("a:\nnull: 3\n");
  CHECK(member(p, "a").value.span == diag::Span{"t", 1, 3, 1, 3});
}

TEST_CASE("document: CRLF and a leading marker change no place") {
  const Parsed p = parse("---\r\na: 1\r\nb: 2\r\n...\r\n");
  REQUIRE(p.findings.empty());
  CHECK(member(p, "b").value.span == diag::Span{"t", 3, 4, 3, 5});
}

TEST_CASE("document: merge keys resolve as YAML says") {
  const Parsed p = parse(
      "one: &one {a: 1, b: 1}\ntwo: &two {b: 2, c: 2}\n"
      "x:\n  <<: [*one, *two]\n  a: 9\n");
  REQUIRE(p.findings.empty());
  const Node& x = *member(p, "x").value.node;
  CHECK(x.members.size() == 3);
  CHECK(x.find("a")->value.node->text == "9");
  CHECK(x.find("b")->value.node->text == "1");
  CHECK(x.find("c")->value.node->text == "2");
  CHECK(x.find("c")->key_span.line == 2);
}

struct Finding {
  const char* name;
  std::string text;
  std::string_view id;
  int line, column, end_column;
};

TEST_CASE("document: syntax findings stand at their place") {
  const Finding table[] = {
      {"two colons", "a: b: c\n", "CP001", 1, 5, 6},
      {"no colon", "a: 1\nbee 2\nc: 3\n", "CP001", 2, 1, 6},
      {"no colon in the last line", "a: 1\nbee 2\n", "CP001", 2, 1, 6},
      {"open quote", "a: \"x\nb: 1\n", "CP001", 1, 4, 5},
      {"open bracket", "a: [1, 2\n", "CP001", 1, 8, 9},
      {"reserved character", "a: @x\n", "CP001", 1, 4, 5},
      {"tab indent", "a:\n\tb: 1\n", "CP002", 2, 1, 2},
      {"tab after colon", "a:\t1\n", "CP002", 1, 3, 4},
      {"duplicate", "a: 1\nb: 2\na: 3\n", "CP003", 3, 1, 2},
      {"nested duplicate", "x:\n  a: 1\n  a: 1\n", "CP003", 3, 3, 4},
      {"control character", "a: b\nc: \x01\n", "CP004", 2, 4, 5},
      {"no UTF-8", "a: caf\xE9\n", "CP004", 1, 7, 8},
      {"zero width",
       "a: \xE2\x80\x8B"
       "2\n",
       "CP005", 1, 4, 5},
      {"undefined alias", "a: *nope\n", "CP006", 1, 4, 9},
      {"recursive alias", "a: &x [1, *x]\n", "CP007", 1, 11, 13},
      {"two documents", "a: 1\n---\nb: 2\n", "CP008", 2, 1, 4},
      {"python tag", "a: !!python/name:os.system x\n", "CP012", 1, 4, 27},
      {"merge of text", "a:\n  <<: b\n", "CP013", 2, 7, 8},
      {"collection as key", "[a, b]: 1\n", "CP014", 1, 1, 7},
      {"no-break space", "a: b\xC2\xA0\n", "CP015", 1, 5, 6},
  };
  for (const Finding& row : table) {
    CAPTURE(row.name);
    const Parsed p = parse(row.text);
    REQUIRE(p.findings.size() == 1);
    CHECK(p.findings[0].id == row.id);
    CHECK(p.findings[0].span == diag::Span{"t", row.line, row.column, row.line, row.end_column});
  }
}

TEST_CASE("document: tabs and invisible characters may stand in quotes comments and blocks") {
  const Parsed p = parse(
      "a: \"x\ty\" # tab\there\nb: 'n\xC2\xA0"
      "b'\nc: |\n  x\ty\n# z\xE2\x80\x8B\n");
  CHECK(p.findings.empty());
}

TEST_CASE("document: a duplicate names the first place") {
  const Parsed p = parse("a: 1\nb: 2\na: 3\n");
  REQUIRE(p.findings.size() == 1);
  REQUIRE(p.findings[0].related.size() == 1);
  CHECK(p.findings[0].related[0].span == diag::Span{"t", 1, 1, 1, 2});
  CHECK(member(p, "a").value.node->text == "3");
}

TEST_CASE("document: nothing grows without bound") {
  const auto only = [](std::string text) {
    const Parsed p = parse(std::move(text));
    REQUIRE(p.findings.size() == 1);
    return p.findings[0].id;
  };
  CHECK(only("a: " + std::string(100'000, '[')) == "CP011");
  std::string dashes;
  for (int i = 0; i < 50'000; ++i) dashes += "- ";
  CHECK(only(dashes) == "CP011");
  std::string merges = "a0: &a0 {x0: 1}\n";
  for (int i = 1; i < 2'000; ++i)
    merges += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {<<: *a" +
              std::to_string(i - 1) + ", x" + std::to_string(i) + ": 1}\n";
  CHECK(only(merges) == "CP013");
  CHECK(only(std::string(max_file_size + 1, ' ')) == "CP004");
}

TEST_CASE("document: a long chain of aliases is read and freed") {
  std::string chain = "a0: &a0 [1]\n";
  for (int i = 1; i < 5'000; ++i)
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
             ", *a" + std::to_string(i - 1) + "]\n";
  const Parsed p = parse(chain);
  CHECK(p.findings.empty());
  CHECK(p.document.root.node->members.size() == 5'000);
}

}  // namespace
}  // namespace cpplan::config
