#pragma once
// The ranks of a job as the simulation takes them: one for all that do the same at the same time.
#include "engine/meta_run.hpp"
#include "plan/simulation.hpp"

namespace cpplan::plan {

/// One rank a pipeline stage, and one a CP rank where the mask gives them different work: TP ranks
/// and replicas keep step with each other. Every rank of the world where there are more of them
/// than cores. Error where those are too many to simulate.
Result<std::vector<SimulatedRank>> simulated_ranks(const engine::Job&, const engine::Documents&,
                                                   const cluster::HardwareProfile&);

}  // namespace cpplan::plan
