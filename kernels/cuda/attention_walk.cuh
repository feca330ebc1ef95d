#pragma once
// How attention kernels walk a block: tiles of rows against tiles of rows, cut down to what the
// mask lets them see. Lengths are valid ones, never padded ones.
#include "kernels/cuda/attention_arguments.hpp"
#include "kernels/cuda/attention_blocks.hpp"
#include "kernels/cuda/primitives.cuh"

namespace cpplan::kernels::cuda {

inline constexpr float log2_e = 1.44269504f, ln_2 = 0.693147181f;
inline constexpr float infinite = __builtin_huge_valf();

/// Quotients of positions, which may be negative; n > 0.
__device__ inline int floor_quotient(int a, int n) {
  return a >= 0 ? a / n : -((n - 1 - a) / n);
}
__device__ inline int ceil_quotient(int a, int n) {
  return -floor_quotient(-a, n);
}

/// The first of the blocks to which owned tile `tile` belongs.
__device__ inline int first_block(const WorkList& work, int tile) {
  int low = 0, high = work.count;  // the first whose end is greater is in [low, high)
  while (low < high) {
    const int middle = (low + high) / 2;
    if (work.blocks[middle].end_tile > tile)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Rows [begin, end) of one side of a block, counted from its first.
struct Range {
  int begin, end;
  __device__ int count() const { return end - begin; }
};

/// Rows of owned tile `tile` of a block whose owned run has `count` rows.
__device__ inline Range owned_range(const WorkBlock& block, int count, int tile, int tile_rows) {
  const int tiles = (count + tile_rows - 1) / tile_rows;
  const int begin = (tile - (block.end_tile - tiles)) * tile_rows;
  return {begin, min(begin + tile_rows, count)};
}

__device__ inline int q_position(const WorkBlock& b, int i) {
  return b.q_first + i * b.q_stride;
}
__device__ inline int k_position(const WorkBlock& b, int j) {
  return b.k_first + j * b.k_stride;
}

/// Keys that some query of the range may see, and the other way round.
__device__ inline Range keys_seen(const WorkBlock& b, const AttentionArguments& a, Range queries) {
  if (b.whole) return {0, b.k_count};
  const int first = q_position(b, queries.begin), last = q_position(b, queries.end - 1);
  const int begin = max(0, ceil_quotient(first - a.left - b.k_first, b.k_stride));
  const int end = min(b.k_count, floor_quotient(last + a.right - b.k_first, b.k_stride) + 1);
  return {begin, max(begin, end)};
}
__device__ inline Range queries_seeing(const WorkBlock& b, const AttentionArguments& a,
                                       Range keys) {
  if (b.whole) return {0, b.q_count};
  const int first = k_position(b, keys.begin), last = k_position(b, keys.end - 1);
  const int begin = max(0, ceil_quotient(first - a.right - b.q_first, b.q_stride));
  const int end = min(b.q_count, floor_quotient(last + a.left - b.q_first, b.q_stride) + 1);
  return {begin, max(begin, end)};
}

/// Whether every pair of the two ranges is allowed, so that the tile needs no mask.
__device__ inline bool all_allowed(const WorkBlock& b, const AttentionArguments& a, Range queries,
                                   Range keys) {
  if (b.whole) return true;
  const int nearest = q_position(b, queries.begin) - k_position(b, keys.end - 1);
  const int farthest = q_position(b, queries.end - 1) - k_position(b, keys.begin);
  return nearest >= -a.right && farthest <= a.left;
}

/// Keys that query i of a block may see, and queries that may see key j.
__device__ inline Range keys_of(const WorkBlock& b, const AttentionArguments& a, int i) {
  return i < b.q_count ? keys_seen(b, a, {i, i + 1}) : Range{0, 0};
}
__device__ inline Range queries_of(const WorkBlock& b, const AttentionArguments& a, int j) {
  return j < b.k_count ? queries_seeing(b, a, {j, j + 1}) : Range{0, 0};
}

/// The tiles of one side of all blocks of an owner, in order.
template <Owner owner, int tile_rows, int other_rows>
class TileWalk {
 public:
  __device__ TileWalk(const WorkList& work, const AttentionArguments& arguments, int tile)
      : index_(first_block(work, tile)) {
    enter_block(work, arguments, tile);
  }

  __device__ bool done() const { return at_ >= end_; }
  /// Which block, and the rows against which the owned ones stand now.
  __device__ int block() const { return index_; }
  __device__ Range other() const { return {at_, min(at_ + other_rows, end_)}; }
  __device__ void advance(const WorkList& work, const AttentionArguments& arguments, int tile) {
    at_ += other_rows;
    if (done()) ++index_, enter_block(work, arguments, tile);
  }

  __device__ static Range owned(const WorkBlock& block, int tile) {
    return owned_range(block, owned_count(block), tile, tile_rows);
  }

 private:
  __device__ static int owned_count(const WorkBlock& block) {
    return owner == Owner::queries ? block.q_count : block.k_count;
  }
  __device__ static bool owns(const WorkBlock& block, int tile) {
    return block.end_tile - (owned_count(block) + tile_rows - 1) / tile_rows <= tile;
  }
  /// From block index_ on, the first in which there is something to see.
  __device__ void enter_block(const WorkList& work, const AttentionArguments& arguments, int tile) {
    for (; index_ < work.count && owns(work.blocks[index_], tile); ++index_) {
      const WorkBlock& block = work.blocks[index_];
      const Range mine = owned(block, tile);
      const Range seen = owner == Owner::queries ? keys_seen(block, arguments, mine)
                                                 : queries_seeing(block, arguments, mine);
      at_ = seen.begin, end_ = seen.end;
      if (!done()) return;
    }
    at_ = end_ = 0;
  }

  int index_, at_ = 0, end_ = 0;
};

}  // namespace cpplan::kernels::cuda
