#pragma once
// How numbers and lists are written for people, and which known word an unknown one was meant to
// be.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace cpplan {

/// Fewest insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment), in bytes.
Index edit_distance(std::string_view a, std::string_view b);

/// Candidates that `word` was probably meant to be, best first: distance <= 1 + length / 4 and at
/// most one more than that of the best, `limit` of them. Letter case, `-` and `_` do not count.
std::vector<std::string> did_you_mean(std::string_view word,
                                      std::span<const std::string_view> candidates,
                                      std::size_t limit = 3);

/// 16384 -> "16,384"
std::string with_thousands(Index n);

/// In the largest binary unit that leaves a number >= 1: "512 B", "1.5 KiB", "13.4 GiB".
std::string human_bytes(Bytes bytes);

/// {"a", "b", "c"} with ", " -> "a, b, c"
std::string join(std::span<const std::string> parts, std::string_view separator);

/// {"a", "b", "c"} with "or" -> "a, b or c"
std::string join_words(std::span<const std::string> parts, std::string_view conjunction);

/// Without white space (of ASCII) at both ends.
std::string_view trimmed(std::string_view text);

/// "A.b-C" -> "a.b-c", ASCII alone.
std::string lower_case(std::string_view text);

}  // namespace cpplan
