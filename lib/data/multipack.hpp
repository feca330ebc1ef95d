#pragma once
// Which rows axolotl packs together, bin for bin (utils/samplers/multipack.py), at n log n cost.
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "data/lengths.hpp"
#include "data/packing.hpp"

namespace cpplan::data {

enum class PackingMethod {
  first_fit,  // the first bin with room, within groups of rows
  next_fit    // the last bin or a new one; knows neither groups nor a limit of rows
};

/// Contract: capacity, rows_per_bin and group_size are at least 1.
struct PackingRules {
  PackingMethod method = PackingMethod::first_fit;
  Index capacity = 0;          // tokens of a bin
  Index rows_per_bin = 200;    // sample_packing_bin_size
  Index group_size = 100'000;  // sample_packing_group_size: bins are closed after so many rows
};

/// Rows in the order in which the sampler gives them: numbers into the lengths.
using RowOrder = std::span<const std::uint32_t>;

/// Bin after bin. A row that is longer than a bin has one of its own, as upstream's loop leaves it.
Bins pack(std::span<const Length> lengths, const PackingRules& rules);

struct BinCount {
  Index bins = 0;
  Index tokens = 0;               // of all rows
  std::vector<Index> last_fills;  // tokens of the last bins, up to as many as were asked for
};

/// The bins of pack() for the lengths in `order` (as they stand where it is empty), counted a group
/// at a time: memory for one group beside the arguments.
BinCount count_bins(std::span<const Length> lengths, RowOrder order, const PackingRules& rules,
                    Index keep_fills);

}  // namespace cpplan::data
