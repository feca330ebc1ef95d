#include "base/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>

namespace cpplan {
namespace {

TEST_CASE("text: edit distance counts a swap of neighbours once") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sequence", "seqeunce") == 1);
  CHECK(edit_distance("same", "same") == 0);
}

TEST_CASE("text: suggestions come best first and stay near") {
  const std::array<std::string_view, 4> keys = {"context_parallel_size", "expert_parallel_size",
                                                "learning_rate", "lr"};
  using Names = std::vector<std::string>;
  CHECK(did_you_mean("context_parallel_sise", keys) == Names{"context_parallel_size"});
  CHECK(did_you_mean("Context-Parallel-Size", keys) == Names{"context_parallel_size"});
  CHECK(did_you_mean("learnin_rate", keys) == Names{"learning_rate"});
  CHECK(did_you_mean("something_else", keys).empty());
  CHECK(did_you_mean("", keys).empty());
}

TEST_CASE("text: suggestions are limited") {
  const std::array<std::string_view, 4> near = {"ab", "ac", "ad", "ae"};
  CHECK(did_you_mean("a", near, 2) == std::vector<std::string>{"ab", "ac"});
}

TEST_CASE("text: thousands are separated") {
  CHECK(with_thousands(0) == "0");
  CHECK(with_thousands(999) == "999");
  CHECK(with_thousands(16384) == "16,384");
  CHECK(with_thousands(-1234567) == "-1,234,567");
  CHECK(with_thousands(-123) == "-123");
  CHECK(with_thousands(std::numeric_limits<Index>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("text: bytes read in the largest unit") {
  CHECK(human_bytes({512}) == "512 B");
  CHECK(human_bytes({1536}) == "1.5 KiB");
  CHECK(human_bytes({(Index{1} << 30) - 1}) == "1.0 GiB");
  CHECK(human_bytes({Index{80} << 30}) == "80.0 GiB");
}

TEST_CASE("text: lists are joined") {
  const std::vector<std::string> three = {"a", "b", "c"};
  CHECK(join(three, ", ") == "a, b, c");
  CHECK(join_words(three, "or") == "a, b or c");
  CHECK(join_words(std::vector<std::string>{"a", "b"}, "and") == "a and b");
  CHECK(join_words(std::vector<std::string>{"a"}, "and") == "a");
  CHECK(join_words({}, "and").empty());
}

TEST_CASE("text: white space is trimmed at both ends") {
  CHECK(trimmed(" \t a b \n") == "a b");
  CHECK(trimmed(" \n").empty());
}

}  // namespace
}  // namespace cpplan
