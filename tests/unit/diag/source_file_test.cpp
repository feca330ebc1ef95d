#include "diag/source_file.hpp"

#include <doctest/doctest.h>

#include "diag/unicode.hpp"

namespace cpplan::diag {
namespace {

TEST_CASE("source file: lines come without their breaks") {
  const SourceFile file("f", "one\r\ntwo\n\nfour");
  CHECK(file.line_count() == 4);
  CHECK(file.line(1) == "one");
  CHECK(file.line(2) == "two");
  CHECK(file.line(3).empty());
  CHECK(file.line(4) == "four");
  CHECK(file.line(0).empty());
  CHECK(file.line(5).empty());
}

TEST_CASE("source file: columns count code points") {
  const SourceFile file("f", "a: é€😀x\nb");
  const std::size_t x = file.text().find('x');
  CHECK(file.position(x).line == 1);
  CHECK(file.position(x).column == 7);
  CHECK(file.position(file.text().size() - 1).line == 2);
  CHECK(file.span(3, x) == Span{"f", 1, 4, 1, 7});
  CHECK(file.span(0, file.text().size()) == Span{"f", 1, 1, 2, 2});
}

TEST_CASE("source file: an empty text has one empty line") {
  const SourceFile file("f", "");
  CHECK(file.line_count() == 1);
  CHECK(file.position(0).column == 1);
}

TEST_CASE("glyphs: tabs wide characters and control characters") {
  const auto shown = glyphs("a\tb漢\xCC\x81\x1b");
  REQUIRE(shown.size() == 6);
  CHECK(shown[1].width == 3);
  CHECK(shown[1].text == "   ");
  CHECK(shown[3].width == 2);
  CHECK(shown[4].width == 0);
  CHECK(shown[5].text == "\uFFFD");
}

TEST_CASE("unicode: bytes that are no UTF-8 come one at a time") {
  for (const std::string_view bad :
       {"\xff", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    std::string_view rest = bad;
    const CodePoint c = take_code_point(rest);
    CHECK_FALSE(c.valid);
    CHECK(rest.size() == bad.size() - 1);
  }
  std::string_view good = "€";
  CHECK(take_code_point(good).value == 0x20AC);
  CHECK(good.empty());
}

}  // namespace
}  // namespace cpplan::diag
