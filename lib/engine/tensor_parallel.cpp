#include "engine/tensor_parallel.hpp"

namespace cpplan::engine {

Tensor TensorParallel::local(const Step& step, Tensor whole) const {
  const Index rows = local_rows(whole.rows);
  return whole.row_range(sequence_parallel_ ? step.groups.tp.rank() * rows : 0, rows);
}

Tensor TensorParallel::gather(Step& step, Tensor local) const {
  if (!sequence_parallel_) return local;
  const Tensor whole = step.scratch.make(local.dtype, local.rows * size_, local.cols);
  step.groups.tp.all_gather(local, whole).wait();
  return whole;
}

Tensor TensorParallel::partial(Step& step, Tensor local) const {
  if (!sequence_parallel_) return local;
  return step.scratch.make(local.dtype, local.rows * size_, local.cols);
}

void TensorParallel::reduce(Step& step, Tensor partial, Tensor local) const {
  if (sequence_parallel_) {
    step.groups.tp.reduce_scatter(partial, local).wait();
  } else if (size_ > 1) {
    step.groups.tp.all_reduce(local).wait();
  }
}

void linear(Step& step, Tensor x, const Weight& w, Tensor y) {
  step.ops(kernels::Gemm{.a = x, .b = w.value, .c = y, .transpose_b = true});
}

void linear_input_gradient(Step& step, Tensor dy, const Weight& w, Tensor dx, Into into) {
  step.ops(kernels::Gemm{.a = dy, .b = w.value, .c = dx, .accumulate = into == Into::add});
}

void linear_weight_gradient(Step& step, Tensor dy, Tensor x, const Weight& w) {
  if (step.weight_gradients == WeightGradients::in_place) {
    step.ops(kernels::Gemm{.a = dy, .b = x, .c = w.grad, .transpose_a = true, .accumulate = true});
    return;
  }
  kernels::Arena::Scope scope(step.scratch);
  const Tensor made = step.scratch.make(x.dtype, w.grad.rows, w.grad.cols);
  step.ops(kernels::Gemm{.a = dy, .b = x, .c = made, .transpose_a = true});
  step.ops(kernels::Add{made, w.grad});
}

}  // namespace cpplan::engine
