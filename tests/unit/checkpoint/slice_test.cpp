#include "checkpoint/slice.hpp"

#include <doctest/doctest.h>

namespace cpplan::checkpoint {
namespace {

layout::TensorShard shard(Index first_row, Index row_count, Index first_col, Index col_count) {
  layout::TensorShard shard{.name = "t", .rows = 7, .cols = 10};
  shard.first_row = first_row, shard.row_count = row_count;
  shard.first_col = first_col, shard.col_count = col_count;
  return shard;
}

}  // namespace

TEST_CASE("slice: whole rows are one run") {
  CHECK(runs_of(Slice::all_of(shard(2, 3, 0, 10))) == std::vector<Run>{{20, 0, 30}});
}

TEST_CASE("slice: columns are a run a row") {
  CHECK(runs_of(Slice::all_of(shard(0, 3, 4, 2))) ==
        std::vector<Run>{{4, 0, 2}, {14, 2, 2}, {24, 4, 2}});
}

TEST_CASE("slice: padding rows are in no file") {
  const auto padded = Slice::all_of(shard(6, 3, 0, 10));
  CHECK(valid_elements(padded) == 10);
  CHECK(runs_of(padded) == std::vector<Run>{{60, 0, 10}});
  const auto beyond = Slice::all_of(shard(9, 3, 0, 10));
  CHECK(valid_elements(beyond) == 0);
  CHECK(runs_of(beyond).empty());
}

TEST_CASE("slice: a range of elements begins and ends within rows") {
  // Of the shard's rows 1-2 and columns 4-8, elements 3 to 7.
  CHECK(runs_of({shard(1, 2, 4, 5), 3, 5}) == std::vector<Run>{{17, 0, 2}, {24, 2, 3}});
  CHECK(runs_of({shard(1, 2, 0, 10), 3, 12}) == std::vector<Run>{{13, 0, 12}});
}

TEST_CASE("slice: ranges cut anywhere meet every element once") {
  const auto whole = shard(3, 6, 2, 7);  // two rows of padding
  std::vector<int> met(70);
  for (Index first = 0; first < 42; first += 5)
    for (const Run& run : runs_of({whole, first, std::min<Index>(5, 42 - first)}))
      for (Index i = 0; i < run.count; ++i) ++met[static_cast<std::size_t>(run.in_tensor + i)];
  for (Index row = 0; row < 7; ++row)
    for (Index col = 0; col < 10; ++col)
      CHECK(met[static_cast<std::size_t>(row * 10 + col)] ==
            (row >= 3 && col >= 2 && col < 9 ? 1 : 0));
}

}  // namespace cpplan::checkpoint
