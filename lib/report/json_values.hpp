#pragma once
// Values of a plan that may be unknown, as JSON has them.
#include <optional>

#include "base/json.hpp"

namespace cpplan::report {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// A plan writes 0 for a product beyond 64 bits.
inline std::optional<Index> counted(Index product) {
  return product > 0 ? std::optional(product) : std::nullopt;
}

}  // namespace cpplan::report
