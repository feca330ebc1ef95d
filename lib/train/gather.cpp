#include "train/gather.hpp"

namespace cpplan::train {
using kernels::DType;

/// By way of the device's memory.
std::vector<double> gather(std::span<const double> mine, const Rank& rank) {
  const Index count = std::ssize(mine), world = rank.groups.world->size();
  const Bytes room{2 * kernels::Arena::alignment + (world + 1) * count * size_of(DType::f64)};
  kernels::Arena arena(rank.ops.allocate(room), room);
  const auto shard = arena.make(DType::f64, 1, count), whole = arena.make(DType::f64, world, count);
  rank.ops(kernels::Upload{shard, mine.data()});
  rank.groups.world->all_gather(shard, whole).wait();
  std::vector<double> all(static_cast<std::size_t>(world * count));
  rank.ops(kernels::Download{whole, all.data()});
  return all;
}

}  // namespace cpplan::train
