#pragma once
// The language of attention masks: which query may see which key, from global positions alone.
// Shared by the kernels (arguments), layout::SequenceMap (who computes what) and the planner (how
// much work that is).
#include <algorithm>

#include "base/contract.hpp"
#include "base/units.hpp"

namespace cpplan::kernels {

/// `count` consecutive rows of a tensor from `row` on, which hold positions first, first + stride,
/// ...
struct Run {
  Index row = 0, count = 0, first = 0, stride = 1;
  constexpr Index last() const { return first + (count - 1) * stride; }
  friend bool operator==(const Run&, const Run&) = default;
};

/// Position q may see position k iff -right <= q - k <= left.
struct Band {
  static constexpr Index unbounded = Index{1} << 60;
  Index left = unbounded, right = unbounded;
  constexpr bool allows(Index q, Index k) const { return q - k <= left && k - q <= right; }
};
inline constexpr Band bidirectional{};
inline constexpr Band causal{Band::unbounded, 0};
constexpr Band sliding_window(Index width) {
  return {width - 1, 0};
}

/// How many of a block's pairs are allowed: `all` needs no mask in the kernel, `none` no kernel.
enum class Coverage : std::uint8_t { none, partial, all };

/// Rows q of one tensor against rows k of another: the unit of work of every context-parallel
/// scheme. Positions are indices in the sample before padding.
struct Block {
  Run q, k;
  Coverage coverage = Coverage::partial;
  Index sample = 0;  // which sample of the micro-batch; counts from 0
};

constexpr Coverage coverage(const Run& q, const Run& k, Band band) {
  const Index nearest = q.first - k.last(), farthest = q.last() - k.first;  // least, greatest q - k
  if (nearest > band.left || farthest < -band.right) return Coverage::none;
  const bool all = nearest >= -band.right && farthest <= band.left;
  return all ? Coverage::all : Coverage::partial;
}

/// Sum over 0 <= i < n of clamp(a + i, 0, limit).
constexpr Index clamped_ramp(Index a, Index n, Index limit) {
  const Index below = std::clamp<Index>(-a, 0, n), full = std::clamp<Index>(limit - a, below, n);
  const Index ramp = full - below;
  return ramp * (a + below) + ramp * (ramp - 1) / 2 + (n - full) * limit;
}

constexpr Index floor_div(Index a, Index b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// Allowed (q, k) pairs of a block, in closed form. Both runs have the stride of their layout.
constexpr Index pairs(const Run& q, const Run& k, Band band) {
  if (q.count == 0 || k.count == 0) return 0;
  expect(q.stride == k.stride, "runs of one layout have one stride");
  const Index offset = q.first - k.first, s = q.stride;
  const Index visible = floor_div(offset + band.right, s) + 1;  // keys up to q + right
  const Index expired = -floor_div(band.left - offset, s);      // keys before q - left
  return clamped_ramp(visible, q.count, k.count) - clamped_ramp(expired, q.count, k.count);
}

}  // namespace cpplan::kernels
