#pragma once
// Between the two types of a job: values, and the sums over them.
#include "engine/layer.hpp"

namespace cpplan::engine {

/// `t` itself where it has that type, else a copy in scratch.
inline Tensor as_type(Step& step, Tensor t, kernels::DType dtype) {
  if (t.dtype == dtype) return t;
  const Tensor converted = step.scratch.make(dtype, t.rows, t.cols);
  step.ops(kernels::Copy{t, converted});
  return converted;
}

}  // namespace cpplan::engine
