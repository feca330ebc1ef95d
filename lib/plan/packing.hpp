#pragma once
// How many micro-batches sample packing makes of the rows: a replay of the framework's own sampler
// (axolotl, utils/trainer.py and utils/samplers/multipack.py).
#include <span>

#include "data/multipack.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// The attention takes the ends of documents, so that a micro-batch is one long row
/// (utils/schemas/enums.py).
bool attends_by_document(const config::FeatureSettings&);

/// The capacity, limits and method that the config asks for. Unusable values count as unset.
data::PackingRules packing_rules(const config::TrainingConfig&, const Batch&);

/// Bins of a micro-batch: 1 where the attention takes one row of it all, and multipack_real_batches
/// does not forbid it.
Index bins_per_batch(const config::TrainingConfig&, const Batch&);

struct PackingReplay {
  Packing packing;
  std::vector<Index> batches;  // of each order that was replayed
};

/// Packs the rows in their own order where the sampler is sequential (curriculum_sampling), else in
/// several random ones. Its `batches` are what the framework's loader is expected to have: the
/// least of four samplings, or one from 4 ranks on.
PackingReplay replay_packing(const config::TrainingConfig&, const Batch&,
                             std::span<const data::Length> rows, Index world_size);

/// What is expected of the least of `samplings` draws from the values.
double expected_least(std::vector<Index> values, Index samplings);

}  // namespace cpplan::plan
