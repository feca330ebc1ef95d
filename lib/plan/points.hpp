#pragma once
// After which optimizer steps a run saves and evaluates (axolotl, utils/config/__init__.py and
// core/builders/base.py; Hugging Face, trainer_callback.py).
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Fills saves and evals from trainer_max_steps, steps_per_epoch and the settings.
void place_points(const config::TrainingConfig&, Steps&);

}  // namespace cpplan::plan
