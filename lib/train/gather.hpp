#pragma once
// Small facts of every rank, brought to all of them.
#include <cstdint>
#include <vector>

#include "train/rank_loop.hpp"

namespace cpplan::train {

/// Values of rank 0, then of rank 1, ...; every rank gives as many. Collective over the world.
std::vector<double> gather(std::span<const double> mine, const Rank& rank);

/// All ranks call this before their first step. Failure, naming both hashes, where a rank planned
/// another run than rank 0: from another file, another version or other flags.
void agree_on(std::uint64_t hash, const Rank& rank);

}  // namespace cpplan::train
