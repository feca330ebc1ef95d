#pragma once
// bfloat16 on the host: the upper half of a float, so widening is a shift and narrowing rounds that
// half to nearest, ties to even. Plain integer code, which loops over it vectorise for any machine.
#include <bit>
#include <cstdint>

namespace cpplan::kernels {

class Bf16 {
 public:
  Bf16() = default;
  /// Rounded to nearest even; a NaN stays one.
  constexpr explicit Bf16(float x) : bits_(rounded(x)) {}
  /// Loops store by assignment: with a temporary of class type g++ 12 does not vectorise them.
  constexpr Bf16& operator=(float x) {
    bits_ = rounded(x);
    return *this;
  }

  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

 private:
  static constexpr std::uint16_t rounded(float x) {
    constexpr std::uint32_t quiet = 0x40u;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t half = bits >> 16;
    const std::uint32_t nearest = (bits + 0x7FFFu + (half & 1u)) >> 16;
    return static_cast<std::uint16_t>(x != x ? half | quiet : nearest);
  }

  std::uint16_t bits_;
};

}  // namespace cpplan::kernels
