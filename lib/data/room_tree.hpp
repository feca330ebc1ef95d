#pragma once
// The bins that are open, asked for the first one with enough room.
#include <algorithm>
#include <limits>
#include <vector>

#include "data/lengths.hpp"

namespace cpplan::data {

/// Rooms of bins as the leaves of a tree of maxima: node i has children 2i and 2i + 1. Grows by
/// doubling, so that it stays as small, and as near to the processor, as the bins allow. Rooms are
/// kept in the 32 bits of a length: what is more than the longest row is room for any.
class RoomTree {
 public:
  static constexpr Index none = -1;

  Index count() const { return count_; }

  void clear() {
    std::ranges::fill(room_, closed);
    count_ = 0;
  }

  /// The lowest-numbered bin with room for `length`, or none.
  Index first_with(Length length) const {
    if (room_[1] < length) return none;
    Index node = 1;
    while (node < leaves_) node = 2 * node + (room_[2 * node] < length ? 1 : 0);
    return node - leaves_;
  }

  void open(Index room) {
    if (count_ == leaves_) grow();
    set(count_++, room);
  }

  void set(Index bin, Index room) {
    Index node = leaves_ + bin;
    room_[node] = kept(room);
    while (node /= 2) {
      const Length greatest = std::max(room_[2 * node], room_[2 * node + 1]);
      if (room_[node] == greatest) return;
      room_[node] = greatest;
    }
  }

  /// No row fits any more, not even an empty one.
  void close(Index bin) { set(bin, closed); }

 private:
  static constexpr Length closed = std::numeric_limits<Length>::min();

  static Length kept(Index room) {
    return static_cast<Length>(std::min<Index>(room, std::numeric_limits<Length>::max()));
  }

  void grow() {
    std::vector<Length> larger(4 * leaves_, closed);
    std::copy_n(room_.begin() + leaves_, count_, larger.begin() + 2 * leaves_);
    leaves_ *= 2;
    room_ = std::move(larger);
    for (Index node = leaves_ - 1; node >= 1; --node)
      room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
  }

  Index leaves_ = 64, count_ = 0;
  std::vector<Length> room_ = std::vector<Length>(128, closed);
};

}  // namespace cpplan::data
