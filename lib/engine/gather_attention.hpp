#pragma once
// cp_comm_type all_gather: keys and values of all ranks are gathered, then attended to in one call.
// Backward gathers them again and scatters the sums of their gradients. No partial results to
// merge, at the price of the whole KV in memory (Llama 3, arXiv 2407.21783 §3.3.2).
#include "engine/context_parallel.hpp"

namespace cpplan::engine {

class GatherAttention final : public ContextParallel {
 public:
  void forward(Step&, const SplitSequence&, const AttentionSettings&,
               const AttentionTensors&) const override;
  void backward(Step&, const SplitSequence&, const AttentionSettings&, const AttentionTensors&,
                const AttentionGradients&) const override;
};

}  // namespace cpplan::engine
