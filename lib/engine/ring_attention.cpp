#include "engine/ring_attention.hpp"

#include <array>

namespace cpplan::engine {
namespace {

using comm::Work;

int next(const SplitSequence& ring) {
  return (ring.rank() + 1) % ring.size();
}
int previous(const SplitSequence& ring) {
  return (ring.rank() + ring.size() - 1) % ring.size();
}

Work pass_on(const SplitSequence& ring, Tensor mine, Tensor arriving) {
  const comm::Message messages[] = {comm::send_to(next(ring), mine),
                                    comm::receive_from(previous(ring), arriving)};
  return ring.group->exchange(messages);
}

/// Two buffers that take turns: one is computed on while the other fills.
std::array<Tensor, 2> double_buffer(Step& step, const SplitSequence& ring, Tensor like) {
  if (ring.size() == 1) return {like, like};
  const auto make = [&] { return step.scratch.make_remote(like.dtype, like.rows, like.cols); };
  return {make(), make()};
}

std::vector<kernels::Block> blocks_at(const SplitSequence& ring, int hop, kernels::Band band) {
  return ring.map.blocks(ring.rank(), layout::owner_at(ring.rank(), hop, ring.size()), band);
}

}  // namespace

void RingAttention::forward(Step& step, const SplitSequence& ring,
                            const AttentionSettings& settings, const AttentionTensors& t) const {
  kernels::Arena::Scope scope(step.scratch);
  clear(step, t);
  const auto buffers = double_buffer(step, ring, t.kv);
  Tensor held = t.kv;
  for (int hop = 0; hop < ring.size(); ++hop) {
    Work arrival;
    const Tensor arriving = buffers[hop % 2];
    if (hop + 1 < ring.size()) arrival = pass_on(ring, held, arriving);
    attend(step, settings, t, held, blocks_at(ring, hop, settings.band));
    arrival.wait();
    held = arriving;
  }
}

void RingAttention::backward(Step& step, const SplitSequence& ring,
                             const AttentionSettings& settings, const AttentionTensors& t,
                             const AttentionGradients& g) const {
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
    if (!last) arrival = pass_on(ring, held, kv[hop % 2]);
    gradient_arrival.wait();
    const Tensor sum = dkv[hop % 2];
    attend_backward(step, settings, t, g, held, sum, blocks_at(ring, hop, settings.band));
    arrival.wait();
    held = kv[hop % 2];
    if (!alone) gradient_arrival = pass_on(ring, sum, last ? g.dkv : dkv[(hop + 1) % 2]);
  }
  gradient_arrival.wait();
}

}  // namespace cpplan::engine
