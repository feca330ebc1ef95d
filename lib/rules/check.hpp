#pragma once
// Every finding that relates two facts of a plan. Findings about one key alone are config/'s.
#include "plan/plan.hpp"

namespace cpplan::rules {

/// All rules, in no order; the plan's own diagnostics are not repeated.
diag::Diagnostics check(const plan::Plan&);

}  // namespace cpplan::rules
