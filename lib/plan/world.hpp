#pragma once
// How many ranks there are, and who says so.
#include "cluster/environment.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// The first of these that answers: --world-size; --nodes x GPUs of a node; the environment;
/// cpplan.cluster; --gpus-per-node alone (one node); the product of the explicit degrees. Adds what
/// the sources contradict to `findings`.
World find_world(const config::TrainingConfig&, const PlanInputs&, const cluster::Environment&,
                 diag::Diagnostics& findings);

}  // namespace cpplan::plan
