#pragma once
// How a sequence is cut over the context-parallel ranks: by the framework, and by our engine.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Tokens of a sequence in the framework's memory before context parallelism cuts it: a multiple of
/// 64 where pad_to_sequence_len is on (packing turns it on), else sequence_len.
Index framework_sequence_len(const config::TrainingConfig&, Index sequence_len);

/// axolotl cuts contiguously, Megatron into head and tail.
SequenceLayout framework_layout(const config::TrainingConfig&, const Batch&,
                                const layout::ParallelDims&);

/// As cpplan.run.sequence_split says, padded so that chunks and sequence shards come out whole.
SequenceLayout engine_layout(const config::TrainingConfig&, const Batch&,
                             const layout::ParallelDims&);

}  // namespace cpplan::plan
