#include "rules/support.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace cpplan::rules {
namespace {

/// All divisors, in order; sqrt(n) divisions.
std::vector<Index> divisors(Index n) {
  std::vector<Index> small, large;
  for (Index d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// sqrt of this many trial divisions take a millisecond.
constexpr Index largest_factored = Index{1} << 40;

}  // namespace

std::vector<Index> nearest_divisors(Index n, Index wanted, Index most) {
  if (n < 1 || n > largest_factored) return {};
  const auto all = divisors(n);
  const auto above = std::ranges::upper_bound(all, wanted);
  std::vector<Index> near;
  if (above != all.begin()) near.push_back(*(above - 1));
  if (above != all.end()) near.push_back(*above);
  std::erase_if(near, [&](Index d) { return d == wanted || (most > 0 && d > most); });
  return near;
}

std::vector<Index> nearest_multiples(Index unit, Index wanted) {
  std::vector<Index> near;
  if (const Index below = wanted / unit * unit; below >= unit) near.push_back(below);
  if (const auto above = checked_multiply(wanted / unit + 1, unit)) near.push_back(*above);
  return near;
}

std::string choices(const std::string& key, const std::vector<Index>& values) {
  std::vector<std::string> words;
  for (const Index value : values) words.push_back(fmt::format("{}: {}", key, value));
  return join_words(words, "or");
}

}  // namespace cpplan::rules
