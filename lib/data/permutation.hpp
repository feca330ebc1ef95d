#pragma once
// Random orders of rows for a replay of what a random sampler might give.
#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace cpplan::data {

/// A stream of random orders, a function of the seed alone. 0 <= rows < 2^32.
class Permutations {
 public:
  Permutations(std::uint64_t seed, Index rows)
      : state_(seed), order_(static_cast<std::size_t>(rows)) {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
  }

  /// The next order (Fisher and Yates); valid until the next call.
  const std::vector<std::uint32_t>& next() {
    for (std::size_t left = order_.size(); left > 1; --left)
      std::swap(order_[left - 1], order_[below(static_cast<std::uint32_t>(left))]);
    return order_;
  }

 private:
  /// SplitMix64 (Steele, Lea and Flood, OOPSLA'14).
  std::uint64_t draw() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  /// 0 .. bound - 1; of 2^32 draws at most `bound` are off, which no count of bins can show.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((draw() >> 32) * bound) >> 32);
  }

  std::uint64_t state_;
  std::vector<std::uint32_t> order_;
};

}  // namespace cpplan::data
