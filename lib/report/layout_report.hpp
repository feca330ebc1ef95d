#pragma once
// `cpplan layout`: who stands where, which groups leave their node, which tokens each rank holds.
#include <string>

#include "base/json.hpp"
#include "diag/diagnostic.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

std::string layout_text(const plan::Plan& plan);

/// {schema: "cpplan/layout/1", summary, world_size, rank_order, degrees, groups, crossing,
/// sequence, diagnostics}
Json layout_document(const plan::Plan& plan, const diag::Diagnostics& findings);

}  // namespace cpplan::report
