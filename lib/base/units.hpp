#pragma once
// Counts with units. No third-party header here: device code includes it.
#include <compare>
#include <cstdint>

namespace cpplan {

/// Every size, count and offset: signed, so that differences are plain arithmetic.
using Index = std::int64_t;

/// A count of one unit. Bytes and Flops do not add up; the tag makes the mixture a compile error.
template <class Unit>
struct Quantity {
  Index count = 0;

  constexpr Quantity& operator+=(Quantity other) {
    count += other.count;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.count - b.count}; }
  friend constexpr Quantity operator*(Index n, Quantity a) { return {n * a.count}; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
};

using Bytes = Quantity<struct ByteUnit>;
/// Floating-point operations of one rank in one step. Sums over a world are doubles: a 405B step
/// (4e19) does not fit.
using Flops = Quantity<struct FlopUnit>;

constexpr Index round_up(Index n, Index multiple) {
  return (n + multiple - 1) / multiple * multiple;
}
constexpr Index ceil_div(Index a, Index b) {
  return (a + b - 1) / b;
}

}  // namespace cpplan
