#pragma once
// Warm-up and learning rate of the counted steps.
#include <functional>

#include "plan/plan.hpp"

namespace cpplan::plan {

/// Fills warmup_steps, the settings of the schedule and the learning rate at four points: first
/// step, end of the warm-up, half way, last step. The warm-up follows what the framework counts,
/// the decay what its trainer runs.
void schedule_learning_rate(const config::TrainingConfig&, Steps&);

/// First step, first after the warm-up, half way and last.
std::vector<LearningRatePoint> four_points(const std::function<double(Index)>& rate_at,
                                           Index warmup_steps, Index last);

}  // namespace cpplan::plan
