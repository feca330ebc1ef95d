#include "engine/gradient_reduction.hpp"

namespace cpplan::engine {

GradientReduction::GradientReduction(kernels::Ops& ops, const Groups& groups, const Job& job,
                                     const ParameterStore& store)
    : ops_(ops), groups_(groups), sharding_(job.data_parallel.sharding), store_(store) {}

void GradientReduction::begin_step() {
  for (const ParameterUnit& unit : store_.units()) ops_(kernels::Fill{unit.whole_grad, 0.0});
}

void GradientReduction::finish() {
  for (const ParameterUnit& unit : store_.units()) reduce(unit).wait();
  for (const ParameterUnit& unit : store_.units()) {
    for (const Parameter& p : unit.parameters) sum_apart(p);
  }
}

comm::Work GradientReduction::reduce(const ParameterUnit& unit) const {
  if (sharding_ == Sharding::none) return groups_.dp_cp.all_reduce(unit.whole_grad);
  return groups_.dp_shard_cp.reduce_scatter(unit.whole_grad, unit.shard_grad);
}

void GradientReduction::sum_apart(const Parameter& p) const {
  if (p.owned.count == 0) return;
  if (p.shard.summed_over == layout::SummedOver::tp) groups_.tp.all_reduce(p.grad).wait();
}

}  // namespace cpplan::engine
