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

/// Gradients of the keys that are held, summed rank by rank. They trail one hop behind the keys, in
/// type `travels`, and the last hop brings them home.
class TravellingGradients {
 public:
  TravellingGradients(Step& step, const SplitSequence& ring, Tensor home, kernels::DType travels)
      : step_(step), ring_(ring), home_(home), rounds_(travels != home.dtype && ring.size() > 1) {
    sums_ = rounds_ ? std::array{home, home} : double_buffer(step, ring, home);
    if (rounds_) {
      leaving_ = step.scratch.make_remote(travels, home.rows, home.cols);
      arriving_ = step.scratch.make_remote(travels, home.rows, home.cols);
    }
    step.ops(kernels::Fill{sums_[0], 0.0});
  }

  /// What the ranks before added, for this one to add to.
  Tensor arrived() {
    arrival_.wait();
    const Tensor sum = sums_[hop_ % 2];
    if (rounds_ && hop_ > 0) step_.ops(kernels::Copy{arriving_, sum});
    return sum;
  }

  void pass_on() {
    const Tensor sum = sums_[hop_ % 2];
    ++hop_;
    if (ring_.size() == 1) return;
    if (rounds_) {
      step_.ops(kernels::Copy{sum, leaving_});
      arrival_ = engine::pass_on(ring_, leaving_, arriving_);
    } else {
      arrival_ = engine::pass_on(ring_, sum, hop_ == ring_.size() ? home_ : sums_[hop_ % 2]);
    }
  }

  void come_home() {
    arrival_.wait();
    if (rounds_) step_.ops(kernels::Copy{arriving_, home_});
  }

 private:
  Step& step_;
  const SplitSequence& ring_;
  Tensor home_;
  bool rounds_;
  std::array<Tensor, 2> sums_;
  Tensor leaving_, arriving_;
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
    const Tensor sum = dkv.arrived();
    attend_backward(step, settings, t, g, held, sum, blocks_at(ring, hop, settings.band));
    arrival.wait();
    held = kv[hop % 2];
    dkv.pass_on();
  }
  dkv.come_home();
}

}  // namespace cpplan::engine
