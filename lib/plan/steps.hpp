#pragma once
// How many optimizer steps a run takes, and what follows from it. Doubles in the framework's order
// of evaluation, since its rounding is part of the answer.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Rows, count, its path and formulas, epochs, warm-up, learning rate at four points, save and
/// evaluation points. The sampler of packed rows draws less often from four ranks on, hence
/// `world_size`.
Steps count_steps(const config::TrainingConfig&, const PlanInputs&, const Batch&,
                  Index world_size = 1);

}  // namespace cpplan::plan
