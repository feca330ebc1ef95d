#include "plan/stages.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cpplan::plan {
namespace {

// Beyond these a number is a mistake, and a list of the stages would fill the memory.
constexpr Index most_stages = 1 << 16;
constexpr Index most_layers = std::numeric_limits<int>::max();

bool positive_or_unset(const std::optional<Index>& n) {
  return !n || *n >= 1;
}

/// Fewer is better: the fullest stage first, then the emptiest counted from below.
using Spread = std::pair<Index, Index>;

Spread spread(Index first, Index between, Index last) {
  const auto [low, high] = std::minmax({first, between, last});
  return {high, -low};
}

}  // namespace

std::optional<std::vector<int>> stage_layers(Index layers, Index stages, const EndStages& ends) {
  if (stages < 1 || stages > most_stages || layers < stages || layers > most_layers)
    return std::nullopt;
  if (!positive_or_unset(ends.first) || !positive_or_unset(ends.last)) return std::nullopt;
  if (ends.first.value_or(0) > layers || ends.last.value_or(0) > layers) return std::nullopt;
  const Index given = Index{ends.first.has_value()} + Index{ends.last.has_value()};
  const Index others = stages - given;
  const Index left = layers - ends.first.value_or(0) - ends.last.value_or(0);
  if (others < 0 || (others == 0 && left != 0)) return std::nullopt;
  if (others > 0 && (left < others || left % others != 0)) return std::nullopt;

  const auto each = static_cast<int>(others > 0 ? left / others : 0);
  std::vector<int> result(static_cast<std::size_t>(stages), each);
  if (ends.first) result.front() = static_cast<int>(*ends.first);
  if (ends.last) result.back() = static_cast<int>(*ends.last);
  return result;
}

std::optional<EndStages> propose_end_stages(Index layers, Index stages) {
  if (stages < 2 || stages > most_stages || layers < stages || layers > most_layers)
    return std::nullopt;
  if (stages == 2) return EndStages{(layers + 1) / 2, layers / 2};
  std::optional<EndStages> best;
  Spread best_spread;
  const Index most = ceil_div(layers, stages) + 1;
  for (Index between = std::max<Index>(1, layers / stages - 1); between <= most; ++between) {
    const Index ends = layers - between * (stages - 2);
    if (ends < 2) break;
    const Index last = ends / 2, first = ends - last;
    const Spread candidate = spread(first, between, last);
    if (best && best_spread < candidate) continue;  // on a tie the ends get less
    best = EndStages{first, last};
    best_spread = candidate;
  }
  return best;
}

}  // namespace cpplan::plan
