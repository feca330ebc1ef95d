#include "engine/context_parallel.hpp"

#include <limits>

namespace cpplan::engine {

void clear(Step& step, const AttentionTensors& t) {
  step.ops(kernels::Fill{t.out, 0.0});
  step.ops(kernels::Fill{t.lse, -std::numeric_limits<double>::infinity()});
}

void attend(Step& step, const AttentionSettings& s, const AttentionTensors& t, Tensor kv,
            std::span<const kernels::Block> blocks) {
  if (blocks.empty()) return;
  step.ops(kernels::Attention{.q = t.q,
                              .k = keys(kv),
                              .v = values(kv),
                              .out = t.out,
                              .lse = t.lse,
                              .blocks = blocks,
                              .band = s.band,
                              .head_dim = s.head_dim,
                              .first_head = s.first_head,
                              .scale = s.scale,
                              .dropout = s.dropout});
}

void attend_backward(Step& step, const AttentionSettings& s, const AttentionTensors& t,
                     const AttentionGradients& g, Tensor kv, Tensor dkv,
                     std::span<const kernels::Block> blocks) {
  if (blocks.empty()) return;
  step.ops(kernels::AttentionBackward{.q = t.q,
                                      .k = keys(kv),
                                      .v = values(kv),
                                      .out = t.out,
                                      .dout = g.dout,
                                      .lse = t.lse,
                                      .dq = g.dq,
                                      .dk = keys(dkv),
                                      .dv = values(dkv),
                                      .blocks = blocks,
                                      .band = s.band,
                                      .head_dim = s.head_dim,
                                      .first_head = s.first_head,
                                      .scale = s.scale,
                                      .dropout = s.dropout});
}

}  // namespace cpplan::engine
