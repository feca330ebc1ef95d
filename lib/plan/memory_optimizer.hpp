#pragma once
// What an optimizer keeps of every parameter.
#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace cpplan::plan {

/// Bytes of state a parameter, where the parameter takes `weight_bytes`; no master copy. None for a
/// name that is not known.
std::optional<Index> optimizer_state_bytes(std::string_view optimizer, Index weight_bytes);

}  // namespace cpplan::plan
