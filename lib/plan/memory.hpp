#pragma once
// What the framework of the config takes on a GPU, by closed formula: no run, no fitted number.
// Every term is counted from the shapes that the framework keeps; sources stand beside each.
#include "plan/memory_settings.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Of the plan's model, degrees and batch. None where the model or its stages are not known, or a
/// number is beyond 64 bits.
std::optional<FrameworkMemory> framework_memory(const Plan&);

/// micro-batch * tokens of a rank * vocabulary (over TP in Megatron) * 4. LongVA PR 19 and trl PR
/// 7003 are reports of runs that died of it.
std::optional<Bytes> logits_fp32_bytes(const Plan&);

/// Fills both, and the verdict against the memory of cpplan.cluster.gpu.
void estimate_framework_memory(Plan&);

}  // namespace cpplan::plan
