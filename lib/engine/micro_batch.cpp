#include "engine/micro_batch.hpp"

namespace cpplan::engine {
namespace {

constexpr std::int32_t ignored_label = -1;

/// Where each sample begins in MicroBatch::tokens.
std::vector<Index> sample_starts(const MicroBatch& micro) {
  std::vector<Index> starts;
  Index at = 0;
  for (const auto& document : micro.documents) {
    while (std::ssize(starts) <= document.sample) starts.push_back(at);
    at += document.tokens;
  }
  expect(at == std::ssize(micro.tokens) && at == std::ssize(micro.labels),
         "documents cover the tokens and labels");
  return starts;
}

}  // namespace

InputSlot::InputSlot(kernels::Arena& inputs, Index capacity)
    : tokens_(inputs.make(kernels::DType::i32, capacity, 1)),
      labels_(inputs.make(kernels::DType::i32, capacity, 1)),
      positions_(inputs.make(kernels::DType::i32, capacity, 1)),
      rows_(inputs.make(kernels::DType::i32, capacity, 2)) {}

void InputSlot::load(kernels::Ops& ops, const Job& job, int cp_rank, const MicroBatch& micro) {
  const layout::Split split = job.context_parallel.split;
  map_ = std::make_unique<layout::SequenceMap>(layout::SequenceMap::padded(
      split, job.dims.cp, micro.documents, rows_multiple(job.dims, split), job.capacity));
  first_sample_ = micro.first_sample;
  upload(ops, cp_rank, micro);
}

void InputSlot::upload(kernels::Ops& ops, int cp_rank, const MicroBatch& micro) {
  const Index n = tokens_.rows;
  const bool filled = !micro.tokens.empty();
  if (filled) {
    const auto starts = sample_starts(micro);
    host_.resize(static_cast<std::size_t>(5 * n));
    for (Index i = 0; i < n; ++i) {
      const layout::Token token = map_->at(cp_rank, i);
      const bool padding = token.index < 0;
      const Index from = padding ? 0 : starts[token.sample] + token.index;
      host_[i] = padding ? 0 : micro.tokens[from];
      host_[n + i] = padding ? ignored_label : micro.labels[from];
      host_[2 * n + i] = static_cast<std::int32_t>(token.position);
      host_[3 * n + 2 * i] = static_cast<std::int32_t>(token.index);
      host_[3 * n + 2 * i + 1] = static_cast<std::int32_t>(token.sample);
    }
  }
  const std::int32_t* host = filled ? host_.data() : nullptr;
  ops(kernels::Upload{tokens_, host});
  ops(kernels::Upload{labels_, filled ? host + n : nullptr});
  ops(kernels::Upload{positions_, filled ? host + 2 * n : nullptr});
  ops(kernels::Upload{rows_, filled ? host + 3 * n : nullptr});
}

}  // namespace cpplan::engine
