#include "checkpoint/element_type.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace cpplan::checkpoint {
namespace {

template <class To, class From>
To converted(ElementType from, From value, ElementType to) {
  To result{};
  convert(from, reinterpret_cast<const std::byte*>(&value), to,
          reinterpret_cast<std::byte*>(&result), 1);
  return result;
}

float from_half(std::uint16_t bits) {
  return converted<float>(ElementType::f16, bits, ElementType::f32);
}
std::uint16_t to_half(float x) {
  return converted<std::uint16_t>(ElementType::f32, x, ElementType::f16);
}
std::uint16_t to_bf16(float x) {
  return converted<std::uint16_t>(ElementType::f32, x, ElementType::bf16);
}

}  // namespace

TEST_CASE("element types: names are the format's") {
  for (const auto type : {ElementType::bf16, ElementType::f16, ElementType::f32, ElementType::f64})
    CHECK(element_type(name_of(type)) == type);
  CHECK(element_type("I64") == std::nullopt);
  CHECK(size_of(ElementType::bf16) == Bytes{2});
  CHECK(size_of(ElementType::f64) == Bytes{8});
}

TEST_CASE("element types: binary16 reads as IEEE 754 says") {
  CHECK(from_half(0x3C00) == 1.0f);
  CHECK(from_half(0xC500) == -5.0f);
  CHECK(from_half(0x7BFF) == 65504.0f);
  CHECK(from_half(0x0001) == std::ldexp(1.0f, -24));
  CHECK(from_half(0x03FF) == 1023 * std::ldexp(1.0f, -24));
  CHECK(from_half(0x7C00) == HUGE_VALF);
  CHECK(std::isnan(from_half(0x7E00)));
}

TEST_CASE("element types: every binary16 survives the way through float") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (std::isnan(from_half(half))) continue;
    REQUIRE(to_half(from_half(half)) == half);
  }
}

TEST_CASE("element types: narrowing rounds to the nearest and ties to even") {
  CHECK(to_half(1.0f + std::ldexp(1.0f, -11)) == 0x3C00);      // half way: to even
  CHECK(to_half(1.0f + 3 * std::ldexp(1.0f, -11)) == 0x3C02);  // likewise, upwards
  CHECK(to_half(65519.0f) == 0x7BFF);
  CHECK(to_half(65520.0f) == 0x7C00);
  CHECK(to_bf16(std::bit_cast<float>(0x3F808000u)) == 0x3F80);
  CHECK(to_bf16(std::bit_cast<float>(0x3F818000u)) == 0x3F82);
  CHECK(to_bf16(std::bit_cast<float>(0x3F808001u)) == 0x3F81);
  CHECK(to_bf16(HUGE_VALF) == 0x7F80);
  CHECK((to_bf16(std::numeric_limits<float>::quiet_NaN()) & 0x7F) != 0);
}

TEST_CASE("element types: the same type keeps every bit of a NaN") {
  const std::uint32_t bits = 0x7FA12345;
  CHECK(converted<std::uint32_t>(ElementType::f32, bits, ElementType::f32) == bits);
}

}  // namespace cpplan::checkpoint
