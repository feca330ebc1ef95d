#include "train/gather.hpp"

namespace cpplan::train {
using kernels::DType;

Gathering::Gathering(const Rank& rank, Index count) : rank_(rank) {
  const Index world = rank.groups.world->size();
  const Bytes room{2 * kernels::Arena::alignment + (world + 1) * count * size_of(DType::f64)};
  kernels::Arena arena(rank.ops.allocate(room), room);
  shard_ = arena.make(DType::f64, 1, count);
  whole_ = arena.make(DType::f64, world, count);
}

/// By way of the device's memory.
std::vector<double> Gathering::operator()(std::span<const double> mine) const {
  expect(std::ssize(mine) == shard_.cols, "as many values as there is room for");
  rank_.ops(kernels::Upload{shard_, mine.data()});
  rank_.groups.world->all_gather(shard_, whole_).wait();
  std::vector<double> all(static_cast<std::size_t>(whole_.elements()));
  rank_.ops(kernels::Download{whole_, all.data()});
  return all;
}

std::vector<double> gather(std::span<const double> mine, const Rank& rank) {
  return Gathering(rank, std::ssize(mine))(mine);
}

}  // namespace cpplan::train
