#pragma once
// First-fit packing: which rows share a sequence.
#include <span>
#include <vector>

#include "base/units.hpp"

namespace cpplan::data {

/// Bin after bin: bin b holds items[first[b]] .. items[first[b + 1] - 1], numbers into the lengths.
struct Bins {
  std::vector<Index> items;
  std::vector<Index> first = {0};
  Index count() const { return std::ssize(first) - 1; }
};

/// Puts each item, in the order given, into the first bin with room for it; O(n log n).
/// Contract: 0 <= length <= capacity.
Bins first_fit(std::span<const Index> lengths, Index capacity);

/// Every item alone.
Bins one_each(Index count);

}  // namespace cpplan::data
