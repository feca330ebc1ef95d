#pragma once
// One function an area, in the order in which check() calls them. Each rule takes any plan: a fact
// that is not known breaks no rule.
#include "plan/plan.hpp"

namespace cpplan::rules {

/// Degrees below 1, and degrees that do not multiply to the world.
void check_world(const plan::Plan&, diag::Diagnostics&);
/// dp_shard, dp_replicate and expert parallelism against what the other degrees leave.
void check_data_parallel(const plan::Plan&, diag::Diagnostics&);
/// The model alone, and its heads against TP and CP.
void check_model(const plan::Plan&, diag::Diagnostics&);
/// The length of a sequence against CP and TP, and what CP asks of attention and packing.
void check_sequence(const plan::Plan&, diag::Diagnostics&);
/// Layers against stages, micro-batches against stages.
void check_pipeline(const plan::Plan&, diag::Diagnostics&);
/// Batch, steps, warm-up and the validation split.
void check_run(const plan::Plan&, diag::Diagnostics&);

}  // namespace cpplan::rules
