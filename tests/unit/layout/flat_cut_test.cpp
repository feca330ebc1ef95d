#include "layout/flat_cut.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace cpplan::layout {
namespace {

/// Elements of tensors of `sizes` that the shards of `cut` own, counted one by one.
std::vector<std::vector<int>> owners(const FlatCut& cut, const std::vector<Index>& sizes) {
  std::vector<std::vector<int>> times;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto& of_tensor = times.emplace_back(static_cast<std::size_t>(sizes[i]));
    for (int shard = 0; shard < cut.shards(); ++shard) {
      const auto [first, count] = cut.owned(i, shard);
      for (Index e = first; e < first + count; ++e) ++of_tensor[static_cast<std::size_t>(e)];
    }
  }
  return times;
}

}  // namespace

TEST_CASE("flat cut: tensors begin at multiples of the alignment") {
  const FlatCut cut(std::vector<Index>{10, 64, 65, 1}, 1);
  CHECK(cut.place(0) == ElementRange{0, 10});
  CHECK(cut.place(1) == ElementRange{64, 64});
  CHECK(cut.place(2) == ElementRange{128, 65});
  CHECK(cut.place(3) == ElementRange{256, 1});
  CHECK(cut.elements() == 320);
}

TEST_CASE("flat cut: every element has one owner for odd sizes and shards") {
  const std::vector<Index> sizes = {1, 7, 129, 1000, 64, 333};
  for (const int shards : {1, 2, 3, 5, 7, 40}) {
    CAPTURE(shards);
    const FlatCut cut(sizes, shards);
    CHECK(cut.shard_size() % FlatCut::alignment == 0);
    for (const auto& of_tensor : owners(cut, sizes)) {
      CHECK(of_tensor == std::vector<int>(of_tensor.size(), 1));
    }
  }
}

TEST_CASE("flat cut: offsets and places name the same element of the row") {
  const std::vector<Index> sizes = {100, 300, 5};
  const FlatCut cut(sizes, 3);  // 128 + 320 + 5 elements: shards of 192
  CHECK(cut.shard_size() == 192);
  CHECK(cut.owned(0, 0) == ElementRange{0, 100});
  CHECK(cut.owned(1, 0) == ElementRange{0, 64});
  CHECK(cut.offset(1, 0) == 128);
  CHECK(cut.owned(1, 1) == ElementRange{64, 192});
  CHECK(cut.owned(1, 2) == ElementRange{256, 44});
  CHECK(cut.owned(2, 2) == ElementRange{0, 5});
  CHECK(cut.offset(2, 2) == 64);
  CHECK(cut.owned(0, 2).count == 0);
}

TEST_CASE("flat cut: more shards than elements leave shards of padding") {
  const FlatCut cut(std::vector<Index>{70}, 4);
  CHECK(cut.shard_size() == 64);
  CHECK(cut.owned(0, 1) == ElementRange{64, 6});
  CHECK(cut.owned(0, 2).count == 0);
  CHECK(cut.owned(0, 3).count == 0);
}

}  // namespace cpplan::layout
