#include "train/gather.hpp"

#include <fmt/format.h>

#include "base/failure.hpp"

namespace cpplan::train {
namespace {
using kernels::DType;

/// Gathers rows of `count` elements, by way of the device's memory.
template <class T>
std::vector<T> gather_rows(DType dtype, std::span<const T> mine, const Rank& rank) {
  const Index count = std::ssize(mine), world = rank.groups.world->size();
  const Bytes room{2 * kernels::Arena::alignment + (world + 1) * count * size_of(dtype)};
  kernels::Arena arena(rank.ops.allocate(room), room);
  const auto shard = arena.make(dtype, 1, count), whole = arena.make(dtype, world, count);
  rank.ops(kernels::Upload{shard, mine.data()});
  rank.groups.world->all_gather(shard, whole).wait();
  std::vector<T> all(static_cast<std::size_t>(world * count));
  rank.ops(kernels::Download{whole, all.data()});
  return all;
}

}  // namespace

std::vector<double> gather(std::span<const double> mine, const Rank& rank) {
  return gather_rows(DType::f64, mine, rank);
}

void agree_on(std::uint64_t hash, const Rank& rank) {
  const std::vector<std::int32_t> halves = {static_cast<std::int32_t>(hash >> 32),
                                            static_cast<std::int32_t>(hash & 0xFFFFFFFFu)};
  const auto all = gather_rows(DType::i32, std::span(halves), rank);
  const auto hash_of_rank = [&](std::size_t r) {
    const auto high = static_cast<std::uint32_t>(all[2 * r]);
    const auto low = static_cast<std::uint32_t>(all[2 * r + 1]);
    return (std::uint64_t{high} << 32) | low;
  };
  for (std::size_t r = 1; r < all.size() / 2; ++r)
    if (hash_of_rank(r) != hash_of_rank(0))
      throw Failure(fmt::format(
          "rank {} has another run than rank 0 (their plans hash to {:016x} and {:016x}). Start "
          "all ranks with the same files, flags and cpplan",
          r, hash_of_rank(r), hash_of_rank(0)));
}

}  // namespace cpplan::train
