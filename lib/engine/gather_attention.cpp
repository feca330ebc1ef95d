#include "engine/gather_attention.hpp"

#include <algorithm>

namespace cpplan::engine {
namespace {

/// Rows of rank r from r * rows on.
Tensor gathered(Step& step, const SplitSequence& sequence, Tensor kv) {
  if (sequence.size() == 1) return kv;
  const Tensor all = step.scratch.make_remote(kv.dtype, kv.rows * sequence.size(), kv.cols);
  sequence.group->all_gather(kv, all).wait();
  return all;
}

/// This rank's queries against the keys of every owner; equal queries stand together.
std::vector<kernels::Block> blocks_of(const SplitSequence& sequence, kernels::Band band) {
  std::vector<kernels::Block> all;
  for (int owner = 0; owner < sequence.size(); ++owner) {
    const Index first_row = owner * sequence.map.rows();
    const auto blocks = sequence.map.blocks(sequence.rank(), owner, band, first_row);
    all.insert(all.end(), blocks.begin(), blocks.end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.q.row < b.q.row; });
  return all;
}

/// Sums the ranks' gradients for all keys; each keeps those of its own.
void bring_home(Step& step, const SplitSequence& sequence, Tensor dkv,
                const AttentionGradients& g) {
  if (g.travels == g.dkv.dtype) return sequence.group->reduce_scatter(dkv, g.dkv).wait();
  const Tensor sent = step.scratch.make_remote(g.travels, dkv.rows, dkv.cols);
  const Tensor home = step.scratch.make(g.travels, g.dkv.rows, g.dkv.cols);
  step.ops(kernels::Copy{dkv, sent});
  sequence.group->reduce_scatter(sent, home).wait();
  step.ops(kernels::Copy{home, g.dkv});
}

}  // namespace

void GatherAttention::forward(Step& step, const SplitSequence& sequence,
                              const AttentionSettings& settings, const AttentionTensors& t) const {
  kernels::Arena::Scope scope(step.scratch);
  clear(step, t);
  const Tensor kv = gathered(step, sequence, t.kv);
  attend(step, settings, t, kv, blocks_of(sequence, settings.band));
}

void GatherAttention::backward(Step& step, const SplitSequence& sequence,
                               const AttentionSettings& settings, const AttentionTensors& t,
                               const AttentionGradients& g) const {
  kernels::Arena::Scope scope(step.scratch);
  const bool alone = sequence.size() == 1;
  step.ops(kernels::Fill{g.dq, 0.0});
  const Tensor kv = gathered(step, sequence, t.kv);
  const Tensor dkv = alone ? g.dkv : step.scratch.make_remote(g.dkv.dtype, kv.rows, kv.cols);
  step.ops(kernels::Fill{dkv, 0.0});
  attend_backward(step, settings, t, g, kv, dkv, blocks_of(sequence, settings.band));
  if (!alone) bring_home(step, sequence, dkv, g);
}

}  // namespace cpplan::engine
