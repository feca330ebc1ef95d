#pragma once
// The order in which an epoch visits the rows.
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cpplan::data {

/// Rows 0 .. rows - 1 sorted by (a random number of "order", row and epoch; row).
std::vector<Index> row_order(std::uint64_t seed, Index rows, Index epoch);

}  // namespace cpplan::data
