#pragma once
// The time and the FLOPs of a step, as JSON.
#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

Json time_json(const plan::Plan&);

}  // namespace cpplan::report
