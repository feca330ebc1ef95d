#include "engine/ring_attention.hpp"

#include <array>
#include <limits>

namespace cpplan::engine {
namespace {

using comm::Work;

/// One rank's view of the ring.
struct Ring {
  comm::Communicator& cp;
  int size() const { return cp.size(); }
  int next() const { return (cp.rank() + 1) % size(); }
  int previous() const { return (cp.rank() + size() - 1) % size(); }

  Work pass_on(Tensor mine, Tensor arriving) const {
    const comm::Message messages[] = {comm::send_to(next(), mine),
                                      comm::receive_from(previous(), arriving)};
    return cp.exchange(messages);
  }
};

/// Two buffers that take turns: one is computed on while the other fills.
std::array<Tensor, 2> double_buffer(Step& step, const Ring& ring, Tensor like) {
  if (ring.size() == 1) return {like, like};
  return {step.scratch.like(like), step.scratch.like(like)};
}

Tensor keys(Tensor kv) {
  return kv.col_range(0, kv.cols / 2);
}
Tensor values(Tensor kv) {
  return kv.col_range(kv.cols / 2, kv.cols / 2);
}

std::vector<kernels::Block> blocks_at(const Step& step, const Ring& ring, int hop,
                                      kernels::Band band) {
  const int rank = ring.cp.rank();
  return step.batch.map.blocks(rank, layout::owner_at(rank, hop, ring.size()), band);
}

void attend(Step& step, const AttentionSettings& s, const AttentionTensors& t, Tensor kv,
            std::span<const kernels::Block> blocks) {
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

}  // namespace

void RingAttention::forward(Step& step, const AttentionSettings& settings,
                            const AttentionTensors& t) const {
  const Ring ring{step.groups.cp};
  kernels::Arena::Scope scope(step.scratch);
  step.ops(kernels::Fill{t.out, 0.0});
  step.ops(kernels::Fill{t.lse, -std::numeric_limits<double>::infinity()});
  const auto buffers = double_buffer(step, ring, t.kv);
  Tensor held = t.kv;
  for (int hop = 0; hop < ring.size(); ++hop) {
    Work arrival;
    const Tensor arriving = buffers[hop % 2];
    if (hop + 1 < ring.size()) arrival = ring.pass_on(held, arriving);
    attend(step, settings, t, held, blocks_at(step, ring, hop, settings.band));
    arrival.wait();
    held = arriving;
  }
}

void RingAttention::backward(Step& step, const AttentionSettings& settings,
                             const AttentionTensors& t, const AttentionGradients& g) const {
  const Ring ring{step.groups.cp};
  const bool alone = ring.size() == 1;
  kernels::Arena::Scope scope(step.scratch);
  step.ops(kernels::Fill{g.dq, 0.0});
  const auto kv = double_buffer(step, ring, t.kv);
  const auto dkv = double_buffer(step, ring, g.dkv);
  step.ops(kernels::Fill{dkv[0], 0.0});
  Tensor held = t.kv;
  Work gradient_arrival;  // of the keys that are held: it trails one hop behind them
  for (int hop = 0; hop < ring.size(); ++hop) {
    const bool last = hop + 1 == ring.size();
    Work arrival;
    if (!last) arrival = ring.pass_on(held, kv[hop % 2]);
    gradient_arrival.wait();
    const Tensor sum = dkv[hop % 2];
    attend_backward(step, settings, t, g, held, sum, blocks_at(step, ring, hop, settings.band));
    arrival.wait();
    held = kv[hop % 2];
    if (!alone) gradient_arrival = ring.pass_on(sum, last ? g.dkv : dkv[(hop + 1) % 2]);
  }
  gradient_arrival.wait();
}

}  // namespace cpplan::engine
