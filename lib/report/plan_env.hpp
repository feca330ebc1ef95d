#pragma once
// A plan as shell variables: eval "$(cpplan plan train.yaml --format env)".
#include <string>

#include "base/json.hpp"

namespace cpplan::report {

/// A line CPPLAN_NAME=value for each scalar of a plan document: its path below its section in upper
/// case, dots as underscores; quoted for a POSIX shell; nothing after the = where the value is
/// null. Lists, and what is in them, are left out.
std::string plan_env(const Json& document);

}  // namespace cpplan::report
