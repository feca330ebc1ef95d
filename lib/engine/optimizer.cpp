#include "engine/optimizer.hpp"

#include <algorithm>

namespace cpplan::engine {

double gradient_scale(double grad_norm, double tokens, double max_grad_norm) {
  const double mean = 1.0 / tokens;
  if (max_grad_norm <= 0) return mean;
  return mean * std::min(1.0, max_grad_norm / (grad_norm + 1e-6));
}

Optimizer::Optimizer(kernels::Ops& ops, const Groups& groups, const Job& job,
                     const ParameterStore& store)
    : ops_(ops),
      groups_(groups),
      settings_(job.adamw),
      gathers_(job.data_parallel.sharding == Sharding::optimizer &&
               !job.data_parallel.overlap_parameters),
      store_(store) {}

void Optimizer::update(Index number, double learning_rate, double gradient_scale) {
  std::vector<comm::Work> gathers;
  for (const ParameterUnit& unit : store_.units()) {
    for (const Parameter& p : unit.parameters) {
      if (p.owned.count > 0) update(p, {number, learning_rate, gradient_scale});
    }
    gather(unit, gathers);
  }
  for (comm::Work& gather : gathers) gather.wait();
}

void Optimizer::gather_whole() {
  std::vector<comm::Work> gathers;
  for (const ParameterUnit& unit : store_.units()) gather(unit, gathers);
  for (comm::Work& gather : gathers) gather.wait();
}

void Optimizer::gather(const ParameterUnit& unit, std::vector<comm::Work>& gathers) const {
  if (gathers_) gathers.push_back(groups_.dp_shard_cp.all_gather(unit.shard, unit.whole));
}

void Optimizer::update(const Parameter& p, const Step& step) const {
  const bool rounded = p.master.data != p.value.data;
  ops_(kernels::AdamW{.p = p.master,
                      .g = p.grad,
                      .m = p.m,
                      .v = p.v,
                      .rounded = rounded ? p.value : Tensor{},
                      .learning_rate = step.learning_rate,
                      .beta1 = settings_.beta1,
                      .beta2 = settings_.beta2,
                      .epsilon = settings_.epsilon,
                      .weight_decay = settings_.weight_decay,
                      .grad_scale = step.gradient_scale,
                      .step = step.number});
}

}  // namespace cpplan::engine
