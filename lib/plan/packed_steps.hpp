#pragma once
// Steps of packed rows: by an estimate of how well they pack, or measured on their lengths.
#include "plan/plan.hpp"
#include "plan/rows.hpp"

namespace cpplan::plan {

/// Packs the lengths, where they are known, and fills packing.
void replay(const config::TrainingConfig&, const Batch&, const SelectedLengths&, Index world_size,
            Steps&);

// The two paths of step_count.hpp, after replay().
void count_estimated(const config::TrainingConfig&, const PlanInputs&, const Batch&, Steps&);
void count_measured(const config::TrainingConfig&, const Batch&, Steps&);

/// The same formula for the validation rows, where they are packed.
void count_eval_steps(const config::TrainingConfig&, const PlanInputs&, const Batch&,
                      const SelectedLengths&, Index world_size, Steps&);

}  // namespace cpplan::plan
