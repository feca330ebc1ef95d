#pragma once
// The border between the region where features are split over TP and the one of the residual
// stream, where tokens are split over TP (sequence parallelism) or nothing is. Forward, gather()
// enters the split region and reduce() leaves it; backward they change places (f/g and their
// sequence-parallel twins, Korthikanti et al., arXiv 2205.05198 §4.2).
#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

class TensorParallel {
 public:
  explicit TensorParallel(const layout::ParallelDims& dims)
      : size_(dims.tp), sequence_parallel_(dims.sequence_parallel && dims.tp > 1) {}

  int size() const { return size_; }
  /// Rows of the residual stream on this rank, of `rows` in the split region.
  Index local_rows(Index rows) const { return sequence_parallel_ ? rows / size_ : rows; }
  /// This rank's rows of a tensor that covers all rows of the split region.
  Tensor local(const Step&, Tensor whole) const;

  /// [local rows, h] -> [rows, h]; made in scratch, or `local` itself where nothing is split.
  Tensor gather(Step&, Tensor local) const;
  /// Where a partial sum that reduce() will turn into `local` is to be written.
  Tensor partial(Step&, Tensor local) const;
  /// Sums partial() over TP into `local`.
  void reduce(Step&, Tensor partial, Tensor local) const;

 private:
  int size_;
  bool sequence_parallel_;
};

/// y = x w^T. x [n, in], w [out, in], y [n, out].
void linear(Step&, Tensor x, const Weight& w, Tensor y);

enum class Into { overwrite, add };
/// dx = dy w, or added to dx.
void linear_input_gradient(Step&, Tensor dy, const Weight& w, Tensor dx, Into into);
/// w.grad += dy^T x, in place or made apart first, as the step says.
void linear_weight_gradient(Step&, Tensor dy, Tensor x, const Weight& w);

}  // namespace cpplan::engine
