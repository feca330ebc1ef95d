#pragma once
// How many sequences Megatron takes in a step, and how that grows over a run.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// num_micro_batches = GBS // (micro * DP), at least 1; GBS defaults to micro * DP, and is the last
/// one of a schedule. With decrease_batch_size_if_needed the rest is dropped
/// (megatron/core/num_microbatches_calculator.py). Unusable values count as 1.
Batch make_megatron_batch(const config::TrainingConfig&, Index data_parallel_size);

/// The global batch size as it counts samples: of the end of a schedule, else as written, else
/// micro * DP; 0 beyond 64 bits.
Index megatron_global_batch(const config::TrainingConfig&, const Batch&);

/// A stretch of the run with one global batch size.
struct BatchPhase {
  Index from_samples = 0;  // consumed when it begins
  Index global_batch_size = 1;
  friend bool operator==(const BatchPhase&, const BatchPhase&) = default;
};

/// "0:32 90B:64": thresholds in tokens (K, M, B, T are powers of a thousand), batch sizes. None
/// where it cannot be read, does not begin at 0 or does not grow.
std::optional<std::vector<BatchPhase>> parse_batch_schedule(std::string_view text,
                                                            Index sequence_len);

/// {start, increment, samples}: the batch grows by increments, each after an equal part of the
/// samples, in double precision as Megatron computes it. None where the increments do not lead to
/// `global_batch_size`.
std::optional<std::vector<BatchPhase>> rampup_phases(const std::vector<Index>& rampup,
                                                     Index global_batch_size);

/// One phase where the config asks for neither; none where what it asks for has no meaning.
std::optional<std::vector<BatchPhase>> batch_phases(const config::TrainingConfig&, const Batch&);

/// Iterations until `samples` are consumed, a last batch that is not full thrown away. Contract:
/// phases as batch_phases() makes them.
Index iterations_of(const std::vector<BatchPhase>& phases, Index samples);

/// 128 with TP 2: the vocabulary is padded to a multiple of 256 (training/vocab_utils.py). None
/// where it is not known.
std::optional<Index> padded_vocab_size(const config::TrainingConfig&, Index tensor_parallel_size);

}  // namespace cpplan::plan
