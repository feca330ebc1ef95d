#pragma once
// How many optimizer steps a run takes. Doubles in the framework's order of evaluation, since its
// rounding is part of the answer.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Rows after the validation split; none where there is nothing to split or to train on.
struct Split {
  std::optional<Index> train, eval;
};

/// Rows of shard `index` of `shards`, as datasets' Dataset.shard cuts them.
Index shard_rows(Index rows, Index shards, Index index);

/// val_set_size: a count above 1, a share below, of which ceil(share * rows) goes to validation.
/// `rows` as loaded.
Split split_rows(Index rows, double val_set_size);

/// ceil(rows * num_epochs / batch_size); none where that is no count of steps.
std::optional<Index> plain_steps(Index rows, double num_epochs, Index batch_size);

/// The count, its path and formula, the warm-up and the learning rate at four points.
Steps count_steps(const config::TrainingConfig&, const PlanInputs&, const Batch&);

}  // namespace cpplan::plan
