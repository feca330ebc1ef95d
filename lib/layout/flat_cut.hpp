#pragma once
// Tensors laid side by side as one row of elements, and the row cut into equal shards, one a rank:
// where each tensor begins, and which of its elements a rank keeps. A shard may begin and end
// inside tensors; the last ones may hold padding alone.
#include <span>
#include <vector>

#include "base/units.hpp"

namespace cpplan::layout {

struct ElementRange {
  Index first = 0, count = 0;
  Index end() const { return first + count; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

class FlatCut {
 public:
  /// Tensors and shards begin at multiples of this: 256 bytes of fp32.
  static constexpr Index alignment = 64;

  /// `sizes`: elements of each tensor, in their order. Contract: at least one shard.
  FlatCut(std::span<const Index> sizes, int shards);

  int shards() const { return shards_; }
  Index shard_size() const { return shard_size_; }
  /// Of the whole row, padding included.
  Index elements() const { return shards_ * shard_size_; }
  /// Where tensor `i` lies in the row.
  ElementRange place(std::size_t i) const { return places_[i]; }
  /// Elements of tensor `i`, counted from its first one, that lie in `shard`.
  ElementRange owned(std::size_t i, int shard) const;
  /// Where owned(i, shard) begins, counted from the first element of the shard.
  Index offset(std::size_t i, int shard) const;

 private:
  std::vector<ElementRange> places_;
  int shards_;
  Index shard_size_ = 0;
};

}  // namespace cpplan::layout
