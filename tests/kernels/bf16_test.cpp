// bf16 by its definition: the upper half of a float, to the nearest, ties to even.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "kernels/bf16.hpp"

namespace cpplan::kernels {
namespace {

constexpr std::uint32_t halves = 0x10000, infinity_half = 0x7F80;

float of_bits(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
std::uint32_t half_of(Bf16 x) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16;
}

}  // namespace

TEST_CASE("bf16: every value comes back as it was") {
  std::uint32_t changed = 0;
  for (std::uint32_t half = 0; half < halves; ++half) {
    const float x = of_bits(half << 16);
    changed += !std::isnan(x) && half_of(Bf16(x)) != half;
  }
  CHECK(changed == 0);
}

TEST_CASE("bf16: between two neighbours the nearer wins and a tie goes to the even one") {
  std::uint32_t wrong = 0;
  for (const std::uint32_t sign : {0u, 0x8000u})
    for (std::uint32_t half = sign; half < sign + infinity_half; ++half) {
      const std::uint32_t middle = (half << 16) | 0x8000u;
      const std::uint32_t even = half % 2 == 0 ? half : half + 1;  // above the greatest: infinity
      wrong += half_of(Bf16(of_bits(middle - 1))) != half;
      wrong += half_of(Bf16(of_bits(middle))) != even;
      wrong += half_of(Bf16(of_bits(middle + 1))) != half + 1;
    }
  CHECK(wrong == 0);
}

TEST_CASE("bf16: infinities stay and a NaN stays a NaN") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(static_cast<float>(Bf16(infinity)) == infinity);
  CHECK(static_cast<float>(Bf16(-infinity)) == -infinity);
  for (const std::uint32_t bits : {0x7F800001u, 0x7FFFFFFFu, 0xFF80FFFFu, 0x7FC00000u})
    CHECK(std::isnan(static_cast<float>(Bf16(of_bits(bits)))));
}

}  // namespace cpplan::kernels
