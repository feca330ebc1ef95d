#include "engine/residual_branch.hpp"

namespace cpplan::engine {

ResidualBranch::ResidualBranch(const Job& job, const TensorParallel& tp, Weight norm,
                               std::uint32_t site)
    : tp_(tp),
      norm_(norm),
      norm_again_(job.recompute == Recompute::selective),
      epsilon_(job.model.rms_norm_eps),
      rate_(job.model.hidden_dropout),
      key_(random_key(job.seed, "dropout/hidden")),
      site_(site) {}

Tensor ResidualBranch::enter(Step& step, Tensor x, Saved& saved) const {
  saved.x = x;
  saved.rstd = step.saved.make(kernels::accumulator(x.dtype), x.rows, 1);
  const Tensor normed = norm_again_ ? step.scratch.like(x) : step.saved.like(x);
  if (!norm_again_) saved.normed = normed;
  normalize(step, saved, normed);
  return tp_.gather(step, normed);
}

Tensor ResidualBranch::input(Step& step, const Saved& saved) const {
  if (!norm_again_) return tp_.gather(step, saved.normed);
  const Tensor normed = step.scratch.like(saved.x);
  normalize(step, saved, normed);
  return tp_.gather(step, normed);
}

void ResidualBranch::normalize(Step& step, const Saved& saved, Tensor normed) const {
  step.ops(kernels::RmsNorm{
      .x = saved.x, .weight = norm_.value, .y = normed, .rstd = saved.rstd, .epsilon = epsilon_});
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
