#pragma once
// Which of the loaded rows the trainer sees: shards, length filter, validation split, in the
// framework's order (axolotl, utils/data/sft.py).
#include <span>

#include "plan/plan.hpp"

namespace cpplan::plan {

/// Rows after the validation split; none where there is nothing to split or to train on.
struct RowSplit {
  std::optional<Index> train, eval;
};

/// Rows of shard `index` of `shards`, as datasets' Dataset.shard cuts them.
Index shard_rows(Index rows, Index shards, Index index);

/// val_set_size: a count above 1, a share below, of which ceil(share * rows) goes to validation.
/// `rows` as loaded.
RowSplit split_rows(Index rows, double val_set_size);

/// Lengths of the rows that are trained on and validated with; empty where lengths are not known.
struct SelectedLengths {
  std::vector<data::Length> rows;  // train, then eval
  Index train = 0;
  bool known = false;

  std::span<const data::Length> training() const { return std::span(rows).first(train); }
  std::span<const data::Length> validation() const { return std::span(rows).subspan(train); }
};

/// Fills rows, rows_after_shard, rows_too_long, rows_too_short, train_rows, eval_rows and their
/// tokens.
SelectedLengths select_rows(const config::TrainingConfig&, const PlanInputs&, Index sequence_len,
                            Steps&);

/// rl is given: preference or reinforcement training, which has a loader of its own.
bool trains_preferences(const config::TrainingConfig&);

}  // namespace cpplan::plan
