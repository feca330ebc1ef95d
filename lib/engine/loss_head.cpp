#include "engine/loss_head.hpp"

#include "engine/as_type.hpp"

namespace cpplan::engine {

LossHead::LossHead(const Job& job, const TensorParallel& tp, Weight norm, Weight output)
    : tp_(tp),
      norm_(norm),
      output_(output),
      vocab_size_(job.model.vocab_size),
      epsilon_(job.model.rms_norm_eps) {}

void LossHead::forward_backward(Step& step, Tensor y, Tensor grad, Tensor loss) const {
  kernels::Arena::Scope scope(step.scratch);
  const auto sums = kernels::accumulator(y.dtype);
  const Tensor normed = step.scratch.like(y), rstd = step.scratch.make(sums, y.rows, 1);
  step.ops(kernels::RmsNorm{y, norm_.value, normed, rstd, epsilon_});
  const Tensor input = tp_.gather(step, normed);

  const Tensor logits = step.scratch.make(sums, input.rows, output_.value.rows);
  linear(step, input, output_, logits);
  const auto [max, stats] = statistics(step, logits);
  const Tensor& labels = step.batch.labels;
  step.ops(kernels::LossSum{max, stats, labels, loss});
  step.ops(kernels::CrossEntropyBackward{logits, max, stats, labels, first_column(step),
                                         valid_columns(step)});

  const Tensor dlogits = as_type(step, logits, y.dtype);
  linear_weight_gradient(step, dlogits, input, output_);
  const Tensor dnormed = step.scratch.like(y), partial = tp_.partial(step, dnormed);
  linear_input_gradient(step, dlogits, output_, partial, Into::overwrite);
  tp_.reduce(step, partial, dnormed);
  step.ops(kernels::Fill{grad, 0.0});
  step.ops(kernels::RmsNormBackward{y, norm_.value, rstd, dnormed, grad, norm_.grad});
}

LossHead::Statistics LossHead::statistics(Step& step, Tensor logits) const {
  const Tensor max = step.scratch.make(logits.dtype, logits.rows, 1);
  const Tensor stats = step.scratch.make(logits.dtype, logits.rows, 2);
  step.ops(kernels::RowMax{logits, max, valid_columns(step)});
  step.groups.tp.all_reduce(max, comm::Reduce::max).wait();
  step.ops(kernels::SumExp{logits, max, step.batch.labels, stats, first_column(step),
                           valid_columns(step)});
  step.groups.tp.all_reduce(stats).wait();
  return {max, stats};
}

Index LossHead::valid_columns(const Step& step) const {
  return std::clamp<Index>(vocab_size_ - first_column(step), 0, output_.value.rows);
}

}  // namespace cpplan::engine
