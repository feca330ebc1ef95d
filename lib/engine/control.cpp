#include "engine/control.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cpplan::engine {
using kernels::DType;
using layout::Dim;

Control::Control(kernels::Ops& ops, const Groups& groups, const Job& job,
                 const layout::Coordinates& at, kernels::Arena& control)
    : ops_(ops),
      groups_(groups),
      job_(job),
      at_(at),
      parts_(Index{job.dims.tp} * state_shards(job)),
      norm_slots_(tensor_count(job.model) * parts_),
      loss_slots_(2 * Index{job.dims.dp} * job.dims.cp),
      vote_slots_(job.snapshots == Snapshots::host ? 2 : 0),
      loss_(control.make(DType::f64, 1, 2)),
      board_(control.make(DType::f64, 1, norm_slots_ + loss_slots_ + vote_slots_)),
      host_(static_cast<std::size_t>(board_.cols)) {}

void Control::begin_step() {
  ops_(kernels::Fill{loss_, 0.0});
}

StepSummary Control::exchange(std::span<const Parameter> parameters, const Votes& mine) {
  ops_(kernels::Fill{board_, 0.0});
  for (const Parameter& p : parameters) {
    if (p.first_replica) ops_(kernels::SquaredNorm{p.grad, norm_slot(p)});
  }
  if (counts_loss()) ops_(kernels::Copy{loss_, loss_slot()});
  const std::array votes = {mine.stop, mine.done};
  if (vote_slots_ > 0) ops_(kernels::Upload{vote_slots(), votes.data()});
  groups_.world.all_reduce(board_).wait();
  ops_(kernels::Download{board_, host_.data()});
  StepSummary summary = read();
  summary.non_finite = non_finite(parameters);
  return summary;
}

Index Control::norm_index(const Parameter& p) const {
  const Index shards = state_shards(job_);
  const Index part = p.shard.part * shards + (shards > 1 ? groups_.dp_shard_cp.rank() : 0);
  return p.shard.slot * parts_ + part;
}

Index Control::loss_index() const {
  const Index replica = Index{at_[Dim::dp]} * job_.dims.cp + at_[Dim::cp];
  return norm_slots_ + 2 * replica;
}

bool Control::counts_loss() const {
  return at_[Dim::tp] == 0 && at_[Dim::pp] + 1 == job_.dims.pp;
}

StepSummary Control::read() const {
  StepSummary summary;
  for (Index slot = 0; slot < norm_slots_; slot += parts_) {
    double sum = 0;
    for (Index part = 0; part < parts_; ++part) sum += host_[slot + part];
    summary.squared_norms.push_back(sum);
  }
  for (Index i = 0; i < loss_slots_; i += 2) {
    summary.loss_sum += host_[norm_slots_ + i];
    summary.tokens += host_[norm_slots_ + i + 1];
  }
  if (const std::size_t votes = norm_slots_ + loss_slots_; vote_slots_ > 0)
    summary.votes = {.stop = host_[votes], .done = host_[votes + 1]};
  return summary;
}

/// A loss that is not finite makes gradients that are not: it comes first.
std::optional<NonFinite> Control::non_finite(std::span<const Parameter> parameters) const {
  const auto bad = [&](Index i) { return !std::isfinite(host_[static_cast<std::size_t>(i)]); };
  for (Index i = norm_slots_; i < norm_slots_ + loss_slots_; i += 2)
    if (bad(i)) return NonFinite{NonFinite::Kind::loss, 0, counts_loss() && i == loss_index()};
  for (Index i = 0; i < norm_slots_; ++i) {
    const auto brought = [&](const Parameter& p) { return p.first_replica && norm_index(p) == i; };
    if (bad(i))
      return NonFinite{NonFinite::Kind::gradient, i / parts_,
                       std::ranges::any_of(parameters, brought)};
  }
  return {};
}

}  // namespace cpplan::engine
