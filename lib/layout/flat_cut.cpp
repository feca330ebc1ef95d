#include "layout/flat_cut.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace cpplan::layout {

FlatCut::FlatCut(std::span<const Index> sizes, int shards) : shards_(shards) {
  expect(shards >= 1, "a row is cut into one shard or more");
  Index end = 0;
  for (const Index size : sizes) {
    places_.push_back({round_up(end, alignment), size});
    end = places_.back().end();
  }
  shard_size_ = round_up(ceil_div(end, Index{shards}), alignment);
}

ElementRange FlatCut::owned(std::size_t i, int shard) const {
  const ElementRange& place = places_[i];
  const Index first = std::max(place.first, shard * shard_size_);
  const Index end = std::min(place.end(), (shard + 1) * shard_size_);
  if (first >= end) return {};
  return {first - place.first, end - first};
}

Index FlatCut::offset(std::size_t i, int shard) const {
  const ElementRange elements = owned(i, shard);
  if (elements.count == 0) return 0;
  return places_[i].first + elements.first - shard * shard_size_;
}

}  // namespace cpplan::layout
