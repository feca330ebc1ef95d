#include "data/packing.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/contract.hpp"

namespace cpplan::data {
namespace {

/// The room left in each of `bins` bins, as a tree of maxima: node i has children 2i and 2i + 1.
class RoomTree {
 public:
  RoomTree(Index bins, Index capacity)
      : leaves_(static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(bins)))),
        room_(2 * leaves_, capacity) {}

  /// The lowest-numbered bin with room for `length`. Contract: there is one.
  Index first_with(Index length) const {
    Index node = 1;
    expect(room_[node] >= length, "an empty bin holds any item");
    while (node < leaves_) node = room_[2 * node] >= length ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

  void take(Index bin, Index length) {
    Index node = leaves_ + bin;
    room_[node] -= length;
    while (node /= 2) room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
  }

 private:
  Index leaves_;
  std::vector<Index> room_;
};

std::vector<Index> bins_of_items(std::span<const Index> lengths, Index capacity) {
  std::vector<Index> bins;
  bins.reserve(lengths.size());
  RoomTree rooms(std::max<Index>(std::ssize(lengths), 1), capacity);
  for (const Index length : lengths) {
    expect(length >= 0 && length <= capacity, "an item fits an empty bin");
    bins.push_back(rooms.first_with(length));
    rooms.take(bins.back(), length);
  }
  return bins;
}

/// Counting sort by bin, which keeps the items of a bin in their order.
Bins grouped(const std::vector<Index>& bin_of_item) {
  const Index count = bin_of_item.empty() ? 0 : std::ranges::max(bin_of_item) + 1;
  Bins bins{std::vector<Index>(bin_of_item.size()), std::vector<Index>(count + 1)};
  for (const Index bin : bin_of_item) ++bins.first[bin + 1];
  std::partial_sum(bins.first.begin(), bins.first.end(), bins.first.begin());
  std::vector<Index> next(bins.first.begin(), bins.first.end() - 1);
  for (Index item = 0; item < std::ssize(bin_of_item); ++item)
    bins.items[next[bin_of_item[item]]++] = item;
  return bins;
}

}  // namespace

Bins first_fit(std::span<const Index> lengths, Index capacity) {
  return grouped(bins_of_items(lengths, capacity));
}

Bins one_each(Index count) {
  Bins bins{std::vector<Index>(count), std::vector<Index>(count + 1)};
  std::iota(bins.items.begin(), bins.items.end(), Index{0});
  std::iota(bins.first.begin(), bins.first.end(), Index{0});
  return bins;
}

}  // namespace cpplan::data
