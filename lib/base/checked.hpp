#pragma once
// Integer arithmetic on numbers that users write: overflow is an answer, never a wrapped value.
#include <optional>

#include "base/units.hpp"

namespace cpplan {

constexpr std::optional<Index> checked_add(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

constexpr std::optional<Index> checked_multiply(Index a, Index b) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Product of any number of factors, or nothing when it does not fit.
template <class... Factors>
constexpr std::optional<Index> checked_product(Factors... factors) {
  std::optional<Index> product = 1;
  ((product = product ? checked_multiply(*product, static_cast<Index>(factors)) : std::nullopt),
   ...);
  return product;
}

/// Sum of any number of terms, or nothing when one is nothing or the sum does not fit.
template <class... Terms>
constexpr std::optional<Index> checked_sum(Terms... terms) {
  std::optional<Index> sum = 0;
  const auto add = [&](std::optional<Index> term) {
    sum = sum && term ? checked_add(*sum, *term) : std::nullopt;
  };
  (add(terms), ...);
  return sum;
}

}  // namespace cpplan
