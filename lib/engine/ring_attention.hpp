#pragma once
// cp_comm_type p2p: keys and values go round the ring while every rank computes on those it holds
// (Liu et al., arXiv 2310.01889). Forward, KV makes C - 1 hops. Backward, KV makes the same hops
// again and the gradient of each KV travels one hop behind it, C hops in all, until it is home with
// the sums of every rank.
#include "engine/context_parallel.hpp"

namespace cpplan::engine {

class RingAttention final : public ContextParallel {
 public:
  void forward(Step&, const SplitSequence&, const AttentionSettings&,
               const AttentionTensors&) const override;
  void backward(Step&, const SplitSequence&, const AttentionSettings&, const AttentionTensors&,
                const AttentionGradients&) const override;
};

}  // namespace cpplan::engine
