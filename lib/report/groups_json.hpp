#pragma once
// The groups of a layout as lists of ranks, or as arithmetic where lists would not be read.
#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// {tp_groups, cp_groups, dp_groups, pp_groups, dp_cp_groups, tp_cp_groups, dp_shard_groups,
/// dp_replicate_groups}, each [[rank, ...], ...] by first rank. Where a group has more than 1,024
/// ranks or the world more than 4,096: {size, stride, count}, `count` groups of `size` ranks;
/// `axes` of {size, stride} in place of one stride where a group along two dimensions has none.
Json::Object groups_json(const plan::LayoutPlan& layout);

}  // namespace cpplan::report
