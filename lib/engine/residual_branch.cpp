#include "engine/residual_branch.hpp"

namespace cpplan::engine {

ResidualBranch::ResidualBranch(const Job& job, const TensorParallel& tp, Weight norm,
                               std::uint32_t site)
    : tp_(tp),
      norm_(norm),
      epsilon_(job.model.rms_norm_eps),
      rate_(job.model.hidden_dropout),
      key_(random_key(job.seed, "dropout/hidden")),
      site_(site) {}

void ResidualBranch::save(Step& step, Tensor x, Saved& saved) const {
  saved.x = x;
  saved.normed = step.saved.like(x);
  saved.rstd = step.saved.make(kernels::accumulator(x.dtype), x.rows, 1);
}

Tensor ResidualBranch::enter(Step& step, Tensor x, Saved& saved) const {
  save(step, x, saved);
  step.ops(kernels::RmsNorm{
      .x = x, .weight = norm_.value, .y = saved.normed, .rstd = saved.rstd, .epsilon = epsilon_});
  return tp_.gather(step, saved.normed);
}

Tensor ResidualBranch::enter_backward(Step& step, Tensor grad) const {
  const Tensor dbranch = step.scratch.like(grad);
  step.ops(kernels::DropoutBackward{.dy = grad,
                                    .dbranch = dbranch,
                                    .rows = tp_.local(step, step.batch.rows),
                                    .dropout = dropout(step)});
  return tp_.gather(step, dbranch);
}

void ResidualBranch::add(Step& step, Tensor x, Tensor branch, Tensor y) const {
  step.ops(kernels::DropoutAdd{.x = x,
                               .branch = branch,
                               .y = y,
                               .rows = tp_.local(step, step.batch.rows),
                               .dropout = dropout(step)});
}

void ResidualBranch::norm_backward(Step& step, const Saved& saved, Tensor dnormed,
                                   Tensor grad) const {
  step.ops(kernels::RmsNormBackward{.x = saved.x,
                                    .weight = norm_.value,
                                    .rstd = saved.rstd,
                                    .dy = dnormed,
                                    .dx = grad,
                                    .dweight = norm_.grad});
}

kernels::Dropout ResidualBranch::dropout(const Step& step) const {
  return {.key = key_, .site = site_, .first_sample = step.batch.first_sample, .rate = rate_};
}

}  // namespace cpplan::engine
