#pragma once
// Small facts of every rank, brought to all of them.
#include <vector>

#include "train/rank_loop.hpp"

namespace cpplan::train {

/// Values of rank 0, then of rank 1, ...; every rank gives as many. Collective over the world.
std::vector<double> gather(std::span<const double> mine, const Rank& rank);

}  // namespace cpplan::train
