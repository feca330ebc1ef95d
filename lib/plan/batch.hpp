#pragma once
// How many rows and tokens one optimizer step takes.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Tokens; causal pairs of a longer sequence would not fit 64 bits.
inline constexpr Index longest_sequence = Index{1} << 30;

/// axolotl's rules (utils/config/__init__.py): accumulation as given, where it is an explicit null
/// batch_size // micro_batch_size, else 1; batch size as written or micro * accumulation, times the
/// data-parallel ranks. Unusable values count as 1.
Batch make_batch(const config::TrainingConfig&, Index data_parallel_size);

/// Rows that a step really takes: micro * accumulation * DP. Differs from batch_size where that was
/// written and does not match. None beyond 64 bits.
std::optional<Index> rows_per_step(const Batch&);

/// Which accumulation gives `wanted` rows a step, else the nearest global batches on both sides.
GlobalBatch reach_global_batch(const Batch&, Index wanted);

}  // namespace cpplan::plan
