#pragma once
// Final norm, output projection and cross-entropy over a vocabulary split over TP. Forward and
// backward are one call, so that logits live in scratch alone (three small
// all-reduces forward, none backward).
#include "engine/tensor_parallel.hpp"

namespace cpplan::engine {

class LossHead {
 public:
  LossHead(const Job&, const TensorParallel&, Weight norm, Weight output);

  /// y [local rows, h]: output of the last block. grad: overwritten with dL/dy, where L is the sum
  /// of the losses of all labelled tokens. loss f64 [1, 2] is added to: (sum, labelled tokens).
  void forward_backward(Step&, Tensor y, Tensor grad, Tensor loss) const;

 private:
  struct Statistics {
    Tensor max, stats;
  };
  Statistics statistics(Step&, Tensor logits) const;
  Index first_column(const Step& step) const { return step.groups.tp.rank() * output_.value.rows; }
  Index valid_columns(const Step&) const;

  TensorParallel tp_;
  Weight norm_, output_;
  Index vocab_size_;
  double epsilon_;
};

}  // namespace cpplan::engine
