#pragma once
// Small facts of every rank, brought to all of them.
#include <vector>

#include "train/rank_loop.hpp"

namespace cpplan::train {

/// One gathering that is repeated: it makes its room once, as device memory is freed with the
/// backend.
class Gathering {
 public:
  /// Of `count` values of each rank.
  Gathering(const Rank& rank, Index count);
  /// As gather() has it.
  std::vector<double> operator()(std::span<const double> mine) const;

 private:
  const Rank& rank_;
  kernels::Tensor shard_, whole_;
};

/// Values of rank 0, then of rank 1, ...; every rank gives as many. Collective over the world.
std::vector<double> gather(std::span<const double> mine, const Rank& rank);

}  // namespace cpplan::train
