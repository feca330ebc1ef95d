#pragma once
// The work list of an attention launch, passed by value among its arguments, so that a step
// allocates and copies nothing for it. Tiles of the rows that a thread block owns, queries or keys,
// are numbered through; blocks with the same owned rows stand together, and their owner walks all
// of them.
#include <span>
#include <vector>

#include "kernels/mask.hpp"

namespace cpplan::kernels::cuda {

/// kernels::Block in numbers of 32 bits.
struct WorkBlock {
  int q_row, q_count, q_first, q_stride;
  int k_row, k_count, k_first, k_stride;
  int sample;
  bool whole;    // no pair of it is masked
  int end_tile;  // number after the last tile of the owned rows
};

struct WorkList {
  static constexpr int capacity = 80;  // kernels take 4 KiB of arguments on every device
  int count = 0, tiles = 0;
  WorkBlock blocks[capacity];
};

/// Whose rows a thread block owns: it alone writes their results.
enum class Owner { queries, keys };

/// Work lists that hold all blocks, to be run one after the other: rows of different blocks of one
/// list are the same or apart. `tile` is how many rows an owner has.
std::vector<WorkList> work_lists(std::span<const Block> blocks, Owner owner, Index tile);

}  // namespace cpplan::kernels::cuda
