#pragma once
// A plan for people: aligned sections, each number with what it came from.
#include <string>

#include "diag/render_text.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// All of a plan but its findings, which stand with their source lines in diag::render_text.
std::string plan_text(const plan::Plan& plan, diag::Color color);

}  // namespace cpplan::report
