#pragma once
// How long a step of the engine takes on a machine: the simulation of its ranks, summed up.
#include "cluster/hardware.hpp"
#include "engine/meta_run.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// With every micro-batch made of `documents`. Error where the machine has no rate for the job's
/// numbers, or its ranks are too many to simulate.
Result<StepTime> predict_step(const engine::Job&, const engine::Documents&,
                              const cluster::HardwareProfile&);

}  // namespace cpplan::plan
