#include "checkpoint/slice.hpp"

#include <algorithm>

namespace cpplan::checkpoint {

Index valid_elements(const Slice& slice) {
  const Index valid = slice.shard.valid_rows() * slice.shard.col_count;
  return std::clamp<Index>(valid - slice.first, 0, slice.count);
}

std::vector<Run> runs_of(const Slice& slice) {
  const auto& shard = slice.shard;
  const Index begin = slice.first, end = begin + valid_elements(slice);
  std::vector<Run> runs;
  for (Index at = begin; at < end;) {
    const Index row = at / shard.col_count, col = at % shard.col_count;
    const Index count = std::min(shard.col_count - col, end - at);
    const Index in_tensor = shard.element(row, col);
    if (!runs.empty() && runs.back().in_tensor + runs.back().count == in_tensor)
      runs.back().count += count;
    else
      runs.push_back({in_tensor, at - begin, count});
    at += count;
  }
  return runs;
}

}  // namespace cpplan::checkpoint
