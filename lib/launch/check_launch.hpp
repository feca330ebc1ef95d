#pragma once
// What is wrong with a launch command for a plan: CP503 and CP522 to CP527.
#include "launch/launch_line.hpp"
#include "plan/plan.hpp"

namespace cpplan::launch {

diag::Diagnostics check_launch(const LaunchLine&, const plan::Plan&);

}  // namespace cpplan::launch
