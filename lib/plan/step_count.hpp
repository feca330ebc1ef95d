#pragma once
// Which way the framework counts the steps of a config, and what it comes to.
#include "plan/plan.hpp"
#include "plan/rows.hpp"
#include "plan/step_formulas.hpp"

namespace cpplan::plan {

enum class StepPath { plain, estimate, measured, streaming, unbounded, megatron };

/// unbounded: reinforcement training on-policy (grpo, ebft), for which the framework counts
/// nothing.
StepPath step_path(const config::TrainingConfig&);

/// Whether a last batch that is not full is trained on (core/builders/causal.py).
LastBatch last_batch(const config::TrainingConfig&);

/// Fills path, formula, upstream_value, steps_per_epoch, total_num_steps and packing from rows,
/// lengths and tokens: all before max_steps. A count of the framework that is no number of steps
/// gives way to what its trainer does then, which is to count epochs.
void count_by_path(const config::TrainingConfig&, const PlanInputs&, const Batch&,
                   const SelectedLengths&, Index world_size, Steps&);

}  // namespace cpplan::plan
