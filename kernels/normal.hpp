#pragma once
// Initial values: Box-Muller in double from a Philox counter, the same code on the host for every
// backend, so that a parameter starts bit-equal in every layout.
#include <cmath>
#include <numbers>

#include "kernels/ops.hpp"

namespace cpplan::kernels {

/// Standard normal number `element` of the stream of `key`.
inline double standard_normal(std::uint64_t key, std::uint64_t element) {
  constexpr double word_range = 4294967296.0;  // 2^32
  const PhiloxCounter words = philox(
      key, {static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32), 0, 0});
  const double u = (words[0] + 0.5) / word_range, v = (words[1] + 0.5) / word_range;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

/// Element [i, j] of op.x, before it is rounded to the tensor's type.
inline double normal_element(const Normal& op, Index i, Index j) {
  const Index row = op.first_row + i;
  if (row >= op.valid_rows) return 0;
  const Index element = row * op.global_cols + op.first_col + j;
  return op.deviation * standard_normal(op.key, static_cast<std::uint64_t>(element));
}

}  // namespace cpplan::kernels
