#pragma once
// How the config says that the engine is to run attention and keep activations.
#include "engine/job.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// cp_comm_type of either dialect, with the ranks that exchange heads. Error where the engine
/// cannot run it: heads that do not divide, levels that are not told, a list of another length.
Result<engine::ContextParallelSettings> context_parallel_of(const Plan&);

/// cpplan.run.recompute, or Megatron's recompute_granularity, or axolotl's gradient_checkpointing.
/// Error where it is none of the engine's.
Result<engine::Recompute> recompute_of(const Plan&);

/// The type of weights and activations: cpplan.run.dtype, else bf16 where the framework's own
/// switch asks for it (bf16 or bfloat16, Megatron's bf16), else fp32. `auto` asks for it, too: it
/// means bf16 where the device has it, and the host kernels have it on every CPU.
kernels::DType dtype_of(const config::TrainingConfig&);
/// fp32, bf16 or fp64, as cpplan.run.dtype spells it.
std::string_view name_of(kernels::DType);

/// A config of Megatron-LM's keys makes them apart: Megatron-LM holds a tensor of the weight's
/// shape in the activations' type whether gradient_accumulation_fusion is on (an empty one, for the
/// hooks of autograd) or off.
engine::WeightGradients weight_gradients_of(const config::TrainingConfig&);

/// Keys that a query sees, itself included: the model's sliding_window, where it is shorter than a
/// sequence; else 0, all of them.
Index attention_window_of(const Plan&);

/// cpplan.run.sequence_split: how the engine cuts a sequence over the context-parallel ranks. Head
/// and tail where it says nothing.
layout::Split split_of(const config::RunSettings&);
std::string_view name_of(layout::Split);

}  // namespace cpplan::plan
