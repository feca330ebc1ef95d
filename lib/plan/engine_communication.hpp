#pragma once
// What the ranks of our engine send in a step: from the meta run, with closed formulas beside it.
#include <functional>

#include "engine/meta_run.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Of one step of the rank that stands there.
using FootprintOf = std::function<engine::Footprint(const layout::Coordinates&)>;

/// Up to this many ranks each is looked at; of larger worlds one of every pipeline stage, from
/// which the others differ by an element where those of an all-reduce do not divide over its ranks.
inline constexpr Index most_ranks_looked_at = 32;

EngineCommunication communication_of(const engine::Job& job, const FootprintOf& footprint_of);

}  // namespace cpplan::plan
