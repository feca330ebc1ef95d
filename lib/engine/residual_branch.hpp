#pragma once
// What attention and MLP have in common: y = x + dropout(f(norm(x))), with the norm, the dropout
// and the sum on this rank's rows of the residual stream.
#include "engine/tensor_parallel.hpp"

namespace cpplan::engine {

class ResidualBranch {
 public:
  struct Saved {
    Tensor x, normed;  // [local rows, h]; normed is empty where it is computed again
    Tensor rstd;       // [local rows, 1]
  };

  ResidualBranch(const Job&, const TensorParallel&, Weight norm, std::uint32_t site);

  /// norm(x), gathered over TP: the input of the split region, [rows, h].
  Tensor enter(Step&, Tensor x, Saved&) const;
  /// y = x + dropout(sum over TP of f), where f(partial) writes this rank's part of it.
  template <class F>
  void leave(Step& step, const Saved& saved, Tensor y, F&& f) const {
    const Tensor branch = step.scratch.like(y);
    const Tensor partial = tp_.partial(step, branch);
    f(partial);
    tp_.reduce(step, partial, branch);
    add(step, saved.x, branch, y);
  }

  /// dL/df, gathered over TP, of dL/dy.
  Tensor enter_backward(Step&, Tensor grad) const;
  /// The input of the split region again.
  Tensor input(Step&, const Saved&) const;
  /// Adds the branch's part to grad, where f(partial) writes this rank's part of the gradient of
  /// the split region's input.
  template <class F>
  void leave_backward(Step& step, const Saved& saved, Tensor grad, F&& f) const {
    const Tensor dnormed = step.scratch.like(grad);
    const Tensor partial = tp_.partial(step, dnormed);
    f(partial);
    tp_.reduce(step, partial, dnormed);
    norm_backward(step, saved, dnormed, grad);
  }

 private:
  void normalize(Step&, const Saved&, Tensor normed) const;
  void add(Step&, Tensor x, Tensor branch, Tensor y) const;
  void norm_backward(Step&, const Saved&, Tensor dnormed, Tensor grad) const;
  kernels::Dropout dropout(const Step&) const;

  TensorParallel tp_;
  Weight norm_;
  bool norm_again_;
  double epsilon_, rate_;
  std::uint64_t key_;
  std::uint32_t site_;
};

}  // namespace cpplan::engine
