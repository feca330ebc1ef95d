#include "checkpoint/element_type.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/contract.hpp"

namespace cpplan::checkpoint {
namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 4> names = {{
    {"BF16", ElementType::bf16},
    {"F16", ElementType::f16},
    {"F32", ElementType::f32},
    {"F64", ElementType::f64},
}};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1F) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(0x400 + fraction, exponent - 25);
}

std::uint16_t to_half(double x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7E00);
  const double size = std::abs(x);
  if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00);  // rounds to infinity
  int exponent = 0;
  std::frexp(size, &exponent);
  // Fractions of subnormal numbers, and 0, have the same unit as those of the least normal ones.
  const int unit = size == 0 ? -24 : std::max(exponent - 11, -24);
  const auto scaled = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
  const std::uint32_t bits = (static_cast<std::uint32_t>(unit + 25) << 10) + scaled - 0x400;
  return static_cast<std::uint16_t>(sign | bits);
}

double from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t to_bf16(double x) {
  const auto single = static_cast<float>(x);
  auto bits = std::bit_cast<std::uint32_t>(single);
  if (std::isnan(single)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  bits += 0x7FFF + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

double read(ElementType type, const std::byte* at) {
  switch (type) {
    case ElementType::bf16:
      return from_bf16(load<std::uint16_t>(at));
    case ElementType::f16:
      return from_half(load<std::uint16_t>(at));
    case ElementType::f32:
      return load<float>(at);
    case ElementType::f64:
      return load<double>(at);
  }
  return 0;
}

void write(ElementType type, std::byte* at, double value) {
  switch (type) {
    case ElementType::bf16:
      return store(at, to_bf16(value));
    case ElementType::f16:
      return store(at, to_half(value));
    case ElementType::f32:
      return store(at, static_cast<float>(value));
    case ElementType::f64:
      return store(at, value);
  }
}

}  // namespace

Bytes size_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
    case ElementType::f16:
      return {2};
    case ElementType::f32:
      return {4};
    case ElementType::f64:
      return {8};
  }
  return {};
}

std::string_view name_of(ElementType type) {
  for (const auto& [name, known] : names)
    if (known == type) return name;
  expect(false, "every element type has a name");
  return {};
}

std::optional<ElementType> element_type(std::string_view name) {
  for (const auto& [known, type] : names)
    if (known == name) return type;
  return {};
}

std::string_view torch_name_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return "bfloat16";
    case ElementType::f16:
      return "float16";
    case ElementType::f32:
      return "float32";
    case ElementType::f64:
      return "float64";
  }
  return {};
}

void convert(ElementType from, const std::byte* source, ElementType to, std::byte* target,
             Index count) {
  const Index source_size = size_of(from).count, target_size = size_of(to).count;
  if (from == to) {
    std::memcpy(target, source, static_cast<std::size_t>(count * source_size));
    return;
  }
  for (Index i = 0; i < count; ++i)
    write(to, target + i * target_size, read(from, source + i * source_size));
}

}  // namespace cpplan::checkpoint
