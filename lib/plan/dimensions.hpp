#pragma once
// What each parallel dimension splits, copies and sends.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Rows tp, cp, pp, dp. Bytes are those that a rank of the first pipeline stage sends in a step of
/// our engine, by closed formula; none where the engine cannot run the plan.
std::vector<DimensionRow> dimension_table(const Plan&);

}  // namespace cpplan::plan
