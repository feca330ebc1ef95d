#pragma once
// What ranks send, as JSON.
#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

Json communication_json(const plan::Plan& plan);

}  // namespace cpplan::report
