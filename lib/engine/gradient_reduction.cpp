#include "engine/gradient_reduction.hpp"

namespace cpplan::engine {
using kernels::Tensor;

GradientReduction::GradientReduction(kernels::Ops& ops, const Groups& groups, const Job& job,
                                     const ParameterStore& store)
    : ops_(ops),
      groups_(groups),
      settings_(job.data_parallel),
      store_(store),
      in_lanes_(settings_.sharding == Sharding::parameters),
      states_(store.units().size()) {
  holders_.fill(none);
}

void GradientReduction::begin_step() {
  for (const ParameterUnit& unit : store_.units()) {
    ops_(kernels::Fill{in_lanes_ ? unit.shard_grad : unit.whole_grad, 0.0});
  }
  states_.assign(states_.size(), State::closed);
}

void GradientReduction::open(std::size_t unit) {
  if (!in_lanes_ || states_[unit] == State::open) return;
  const ParameterUnit& u = store_.units()[unit];
  std::size_t& holder = holders_[static_cast<std::size_t>(u.lane)];
  if (holder == travelling_) land();
  holder = unit;
  states_[unit] = State::open;
  ops_(kernels::Fill{u.whole_grad, 0.0});
}

void GradientReduction::close(std::size_t unit, Accumulation accumulation) {
  const bool overlaps = settings_.overlap_gradients;
  if (in_lanes_ || (overlaps && accumulation == Accumulation::complete)) start(unit);
  if (!overlaps) land();
}

void GradientReduction::finish() {
  for (std::size_t unit = 0; unit < states_.size(); ++unit) {
    if (states_[unit] != State::sent) start(unit);
  }
  land();
  if (settings_.sharding != Sharding::none) sum_over_replicas();
  for (const ParameterUnit& unit : store_.units()) {
    for (const Parameter& p : unit.parameters) sum_apart(p);
  }
}

void GradientReduction::start(std::size_t unit) {
  land();
  const ParameterUnit& u = store_.units()[unit];
  states_[unit] = State::sent;
  travelling_ = unit;
  transfer_ = settings_.sharding == Sharding::none
                  ? groups_.dp_cp.all_reduce(u.whole_grad)
                  : groups_.dp_shard_cp.reduce_scatter(u.whole_grad, own_row(u));
}

/// What travels arrives in its unit's shard.
void GradientReduction::land() {
  if (travelling_ == none) return;
  transfer_.wait();
  const ParameterUnit& u = store_.units()[travelling_];
  travelling_ = none;
  if (in_lanes_) ops_(kernels::Add{own_row(u), u.shard_grad});
}

void GradientReduction::sum_over_replicas() {
  for (const ParameterUnit& unit : store_.units()) {
    groups_.dp_replicate.all_reduce(unit.shard_grad).wait();
  }
}

void GradientReduction::sum_apart(const Parameter& p) const {
  if (p.owned.count == 0) return;
  switch (p.shard.summed_over) {
    case layout::SummedOver::nothing:
      return;
    case layout::SummedOver::tp:
      return groups_.tp.all_reduce(p.grad).wait();
    case layout::SummedOver::tp_kv:
      return groups_.tp_kv.all_reduce(p.grad).wait();
    case layout::SummedOver::embedding:
      return groups_.embedding.all_reduce(p.grad).wait();
  }
}

Tensor GradientReduction::own_row(const ParameterUnit& unit) const {
  return unit.whole_grad.row_range(groups_.dp_shard_cp.rank(), 1);
}

}  // namespace cpplan::engine
