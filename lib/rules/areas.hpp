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
/// The type of CP's communication, and axolotl's ring attention.
void check_context_parallel(const plan::Plan&, diag::Diagnostics&);
/// Sequence parallelism and overlap, and what Megatron's kinds of attention ask of TP.
void check_tensor_parallel(const plan::Plan&, diag::Diagnostics&);
/// Expert parallelism against experts, world and TP.
void check_experts(const plan::Plan&, diag::Diagnostics&);
/// Virtual stages, explicit layouts and uneven ends.
void check_interleaving(const plan::Plan&, diag::Diagnostics&);
/// Something else than the number of layers decides what stands on a stage.
bool has_own_stages(const plan::Plan&);
/// The schedule that cpplan.run asks of the engine, against layers and micro-batches.
void check_engine_schedule(const plan::Plan&, diag::Diagnostics&);
/// FSDP, DeepSpeed and the distributed optimizer.
void check_sharding(const plan::Plan&, diag::Diagnostics&);
/// Activations that are computed again or moved away.
void check_recompute(const plan::Plan&, diag::Diagnostics&);
/// Megatron's global batch, its ramp and its schedule.
void check_global_batch(const plan::Plan&, diag::Diagnostics&);
/// When a run warms up, saves and evaluates.
void check_schedule(const plan::Plan&, diag::Diagnostics&);
/// Several documents in one row.
void check_packing(const plan::Plan&, diag::Diagnostics&);
/// rl, and what it asks of the batch.
void check_preference(const plan::Plan&, diag::Diagnostics&);
/// Memory that a config alone gives away.
void check_memory(const plan::Plan&, diag::Diagnostics&);
/// Batch, steps, warm-up and the validation split.
void check_run(const plan::Plan&, diag::Diagnostics&);

}  // namespace cpplan::rules
