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

/// Gradients of the keys that are held, on their way home: they trail one hop behind the keys, in
/// type `travels`. What the ranks before added arrives while this one computes its own part, and is
/// added after it.
class TravellingGradients {
 public:
  TravellingGradients(Step& step, const SplitSequence& ring, Tensor home, kernels::DType travels)
      : step_(step), ring_(ring), home_(home), rounds_(travels != home.dtype && ring.size() > 1) {
    if (!rounds_) {
      own_ = double_buffer(step, ring, home);
      return;
    }
    own_.fill(step.scratch.make_remote(home.dtype, home.rows, home.cols));
    leaving_ = step.scratch.make_remote(travels, home.rows, home.cols);
    arriving_ = step.scratch.make_remote(travels, home.rows, home.cols);
  }

  /// Zero, for this rank's part to be added to.
  Tensor own() {
    step_.ops(kernels::Fill{own_[hop_ % 2], 0.0});
    return own_[hop_ % 2];
  }

  void pass_on() {
    const Tensor sum = own_[hop_ % 2];
    if (hop_++ > 0) {
      land();
      step_.ops(kernels::Add{home_, sum});
    }
    if (ring_.size() == 1) return;
    if (rounds_) step_.ops(kernels::Copy{sum, leaving_});
    arrival_ = engine::pass_on(ring_, rounds_ ? leaving_ : sum, rounds_ ? arriving_ : home_);
  }

  /// What arrives is in `home`: after the last hop, the sums of all ranks.
  void land() {
    arrival_.wait();
    if (rounds_) step_.ops(kernels::Copy{arriving_, home_});
  }

 private:
  Step& step_;
  const SplitSequence& ring_;
  Tensor home_;
  bool rounds_;
  std::array<Tensor, 2> own_;
  Tensor leaving_, arriving_;  // where gradients are rounded to travel
  Work arrival_;
  int hop_ = 0;
};

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
  kernels::Arena::Scope scope(step.scratch);
  step.ops(kernels::Fill{g.dq, 0.0});
  const auto kv = double_buffer(step, ring, t.kv);
  TravellingGradients dkv(step, ring, g.dkv, g.travels);
  Tensor held = t.kv;
  for (int hop = 0; hop < ring.size(); ++hop) {
    Work arrival;
    if (hop + 1 < ring.size()) arrival = pass_on(ring, held, kv[hop % 2]);
    attend_backward(step, settings, t, g, held, dkv.own(), blocks_at(ring, hop, settings.band));
    arrival.wait();
    held = kv[hop % 2];
    dkv.pass_on();
  }
  dkv.land();
}

}  // namespace cpplan::engine
