#pragma once
// The exponential of softmax, SwiGLU and cross-entropy: no call, no table and no branch, so that a
// loop over it becomes vector code.
#include <bit>
#include <cstdint>

// A function without an instruction set of its own, so that it can become part of any of the three.
#define CPPLAN_INLINE inline __attribute__((always_inline))

namespace cpplan::kernels::cpu {

/// exp(x) to 1 ulp for x <= 88; infinite somewhat above. Where the result would be subnormal it is
/// 0, so exp(-inf) is exactly 0. Method: 2^n times a polynomial on |r| <= ln(2) / 2, coefficients
/// of Cephes' expf.
CPPLAN_INLINE float fast_exp(float x) {
  constexpr float lowest = -87.33654f, highest = 88.72284f, log2_e = 1.44269504f;
  constexpr float rounder = 12582912.0f;                               // 1.5 * 2^23
  constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;  // n * ln2_high is exact
  const float not_low = x < lowest ? lowest : x;
  const float clamped = not_low > highest ? highest : not_low;
  const float shifted = clamped * log2_e + rounder;  // its low bits are the integer n
  const float n = shifted - rounder;
  const float r = (clamped - n * ln2_high) - n * ln2_low;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::uint32_t exponent =
      std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(rounder) + 127u;
  const float y = p * std::bit_cast<float>(exponent << 23);
  return x < lowest ? 0.0f : y;
}

}  // namespace cpplan::kernels::cpu
