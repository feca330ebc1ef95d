#pragma once
// Which bytes of a tensor a rank holds, as runs that are contiguous both in the tensor and on the
// rank.
#include <vector>

#include "layout/tensor_shard.hpp"

namespace cpplan::checkpoint {

/// Elements [first, first + count) of a shard in row-major order: all of it, or the part that one
/// of several data-parallel ranks keeps. Padding beyond the tensor's rows is part of the shard, and
/// of no file.
struct Slice {
  layout::TensorShard shard;
  Index first = 0, count = 0;

  static Slice all_of(const layout::TensorShard& shard) {
    return {shard, 0, shard.row_count * shard.col_count};
  }
};

/// `count` elements from `in_tensor` of the whole tensor on, and from `in_slice` of the slice on.
struct Run {
  Index in_tensor = 0, in_slice = 0, count = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

/// In the order of the slice; rows that follow each other in the tensor are one run.
std::vector<Run> runs_of(const Slice&);

/// Elements that are in the tensor.
Index valid_elements(const Slice&);

}  // namespace cpplan::checkpoint
