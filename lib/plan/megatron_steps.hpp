#pragma once
// Iterations of a Megatron run and their learning rate (megatron/training/training.py,
// megatron/core/optimizer_param_scheduler.py).
#include "plan/plan.hpp"

namespace cpplan::plan {

/// train_iters as it is given, else what takes train_samples. Fills path, formula and
/// total_num_steps.
void count_megatron_steps(const config::TrainingConfig&, const Batch&, Steps&);

/// Fills warmup_steps, the settings of the schedule and the learning rate at four points.
void schedule_megatron(const config::TrainingConfig&, const Batch&, Steps&);

/// lr_decay_style and its numbers, in iterations.
struct MegatronLearningRate {
  std::string style;  // "linear", "cosine", "constant", "inverse-square-root"
  double initial = 0, greatest = 0, least = 0;
  Index warmup_steps = 0, decay_steps = 0;

  /// Of iteration `step`, from 1: the scheduler has counted step - 1 by then.
  double at(Index step) const;
};

}  // namespace cpplan::plan
