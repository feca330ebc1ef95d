#pragma once
// The one matrix product of this folder, for whole tensors and for attention's tiles alike.
#include "base/units.hpp"

namespace cpplan::kernels::cpu {

enum class Transpose : bool { no, yes };

/// A row-major matrix as it lies in memory; `stride` elements from row to row.
struct Operand {
  const float* data;
  Index stride;
  Transpose transpose = Transpose::no;
};

struct ProductShape {
  Index m, n, k;
};

/// c [m, n] = alpha op(a) op(b) + beta c, on the calling thread. With beta 0, c is not read.
void multiply(ProductShape shape, float alpha, Operand a, Operand b, float beta, float* c,
              Index c_stride);

}  // namespace cpplan::kernels::cpu
