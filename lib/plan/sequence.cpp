#include "plan/sequence.hpp"

#include <algorithm>

#include "engine/job.hpp"
#include "layout/sequence_map.hpp"
#include "plan/engine_settings.hpp"

namespace cpplan::plan {
namespace {
using layout::Split;

// Beyond this a degree is a mistake, and a list of its chunks would fill the memory.
constexpr int most_listed_ranks = 1 << 16;
constexpr Index collator_multiple = 64;  // axolotl, core/trainers/mixins and builders/causal.py

/// Of a striped layout a chunk is a token, and a rank's others follow its first at a stride.
std::vector<std::vector<Index>> chunks_of(Split split, Index ranks) {
  std::vector<std::vector<Index>> chunks;
  for (Index r = 0; r < ranks; ++r)
    chunks.push_back(split == Split::head_tail ? std::vector<Index>{r, 2 * ranks - 1 - r}
                                               : std::vector<Index>{r});
  return chunks;
}

/// Causal pairs of the busiest rank over the mean.
double imbalance(Split split, int ranks, Index tokens, Index padded) {
  const layout::SequenceMap map(split, ranks, {{.valid = tokens, .padded = padded, .sample = 0}});
  double greatest = 0, sum = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto work = static_cast<double>(map.work(r, kernels::causal));
    greatest = std::max(greatest, work);
    sum += work;
  }
  return sum > 0 ? greatest * ranks / sum : 1;
}

SequenceLayout lay_out(Split split, int ranks, Index tokens, Index padded) {
  SequenceLayout layout;
  layout.kind = name_of(split);
  layout.padded_sequence_len = padded;
  layout.pad_tokens = padded - tokens;
  layout.chunk_tokens = split == Split::striped     ? 1
                        : split == Split::head_tail ? padded / (2 * ranks)
                                                    : padded / ranks;
  if (ranks > most_listed_ranks) return layout;
  layout.chunks = chunks_of(split, ranks);
  layout.imbalance = imbalance(split, ranks, tokens, padded);
  return layout;
}

}  // namespace

Index framework_sequence_len(const config::TrainingConfig& config, Index sequence_len) {
  const auto& b = config.batch;
  const bool pads = b.pad_to_sequence_len.value_or(b.sample_packing.value_or(false));
  return pads ? round_up(sequence_len, collator_multiple) : sequence_len;
}

SequenceLayout framework_layout(const config::TrainingConfig& config, const Batch& batch,
                                const layout::ParallelDims& dims) {
  const bool megatron = config.dialect == config::Dialect::megatron;
  const Split split = megatron ? Split::head_tail : Split::contiguous;
  const Index collated =
      megatron ? batch.sequence_len : framework_sequence_len(config, batch.sequence_len);
  const Index multiple =
      dims.cp == 1 && !megatron ? 1 : layout::SequenceMap::multiple(split, dims.cp);
  return lay_out(split, dims.cp, batch.sequence_len, round_up(collated, multiple));
}

SequenceLayout engine_layout(const config::TrainingConfig& config, const Batch& batch,
                             const layout::ParallelDims& dims) {
  const Split split = split_of(config.run);
  const Index multiple = dims.cp * engine::rows_multiple(dims, split);
  return lay_out(split, dims.cp, batch.sequence_len, round_up(batch.sequence_len, multiple));
}

}  // namespace cpplan::plan
