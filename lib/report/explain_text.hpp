#pragma once
// Every number of a plan with the formula it came from, the numbers put in: --explain.
#include <string>

#include "plan/plan.hpp"

namespace cpplan::report {

/// World, batch, steps, learning rate and memory, one formula a line; and where each setting is
/// from.
std::string explain_text(const plan::Plan& plan);

}  // namespace cpplan::report
