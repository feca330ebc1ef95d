#pragma once
// How the config says that the engine is to run attention and keep activations.
#include "engine/job.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// cp_comm_type of either dialect, with the ranks that exchange heads. Error where the engine
/// cannot run it: heads that do not divide, levels that are not told, a list of another length.
Result<engine::ContextParallelSettings> context_parallel_of(const Plan&);

/// cpplan.run.recompute, or Megatron's recompute_granularity. Error where it is none of the
/// engine's.
Result<engine::Recompute> recompute_of(const Plan&);

}  // namespace cpplan::plan
