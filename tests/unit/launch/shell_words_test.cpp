#include "launch/shell_words.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using launch::split_commands;

namespace {

/// The words of each command, joined by |.
std::vector<std::string> joined(const std::string& text) {
  const diag::SourceFile source("--launch-command", text);
  const auto commands = split_commands(source);
  REQUIRE(commands);
  std::vector<std::string> lines;
  for (const auto& words : *commands) {
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : "|") + word.text;
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("shell words: blanks separate and quotes keep together") {
  CHECK(joined("a  b\tc") == Lines{"a|b|c"});
  CHECK(joined("a 'b c' \"d e\" f'g'\"h\"") == Lines{"a|b c|d e|fgh"});
  CHECK(joined("a\\ b \"c\\\"d\" 'e\\f'") == Lines{"a b|c\"d|e\\f"});
}

TEST_CASE("shell words: operators end a command and a continued line does not") {
  CHECK(joined("a b; c && d | e & f") == Lines{"a|b", "c", "d", "e", "f"});
  CHECK(joined("a \\\n  b\nc") == Lines{"a|b", "c"});
}

TEST_CASE("shell words: comments and redirections are no arguments") {
  CHECK(joined("a b # c d") == Lines{"a|b"});
  CHECK(joined("a >out.log 2>&1 b <in") == Lines{"a|b"});
}

TEST_CASE("shell words: a word knows its place and whether the shell replaces it") {
  const diag::SourceFile source("--launch-command", "mpirun -np \"$N\" '$M'");
  const auto commands = split_commands(source);
  REQUIRE(commands);
  const auto& words = commands->front();
  CHECK(words[2].span.column == 12);
  CHECK(words[2].span.end_column == 16);
  CHECK(words[2].expands);
  CHECK_FALSE(words[3].expands);
}

TEST_CASE("shell words: an open quote is an error at the quote") {
  const diag::SourceFile source("--launch-command", "mpirun 'x y");
  const auto commands = split_commands(source);
  REQUIRE_FALSE(commands);
  CHECK(commands.error().id == "CP520");
  CHECK(commands.error().span.column == 8);
}
