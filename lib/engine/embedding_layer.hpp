#pragma once
// Vocabulary-parallel embedding: a rank looks up the rows it owns, the sum over TP is the whole.
#include "engine/tensor_parallel.hpp"

namespace cpplan::engine {

class EmbeddingLayer {
 public:
  EmbeddingLayer(const TensorParallel& tp, Weight table) : tp_(tp), table_(table) {}

  /// y [local rows, h].
  void forward(Step&, Tensor y) const;
  /// grad: dL/dy. Gradients of the table are added to.
  void backward(Step&, Tensor grad) const;

 private:
  Index first_row(const Step& step) const { return step.groups.tp.rank() * table_.value.rows; }

  TensorParallel tp_;
  Weight table_;
};

}  // namespace cpplan::engine
