#pragma once
// A count that remembers an overflow, so that a formula of many terms reads as it is written.
#include <optional>

#include "base/checked.hpp"

namespace cpplan {

/// An integer, or nothing once an operation did not fit 64 bits; nothing stays nothing.
class CheckedCount {
 public:
  constexpr CheckedCount() : value_(0) {}
  constexpr CheckedCount(Index n) : value_(n) {}
  constexpr CheckedCount(std::optional<Index> n) : value_(n) {}

  constexpr const std::optional<Index>& value() const { return value_; }

  friend constexpr CheckedCount operator+(CheckedCount a, CheckedCount b) {
    return checked_sum(a.value_, b.value_);
  }
  friend constexpr CheckedCount operator-(CheckedCount a, CheckedCount b) {
    Index difference = 0;
    if (!a.value_ || !b.value_ || __builtin_sub_overflow(*a.value_, *b.value_, &difference))
      return std::optional<Index>();
    return difference;
  }
  friend constexpr CheckedCount operator*(CheckedCount a, CheckedCount b) {
    return a.value_ && b.value_ ? checked_multiply(*a.value_, *b.value_) : std::nullopt;
  }
  constexpr CheckedCount& operator+=(CheckedCount b) { return *this = *this + b; }

 private:
  std::optional<Index> value_;
};

/// a / n, rounded up; n at least 1, a not negative.
constexpr CheckedCount divided_up(CheckedCount a, Index n) {
  if (!a.value()) return a;
  return *a.value() / n + (*a.value() % n != 0 ? 1 : 0);
}

/// The larger one; nothing where either is nothing.
constexpr CheckedCount larger(CheckedCount a, CheckedCount b) {
  if (!a.value() || !b.value()) return std::optional<Index>();
  return *a.value() < *b.value() ? b : a;
}

}  // namespace cpplan
