// A product of bf16 as products of f32 blocks, one block of c after the other.
#include <algorithm>

#include "kernels/cpu/gemm.hpp"

namespace cpplan::kernels::cpu {
namespace {

struct Range {
  Index first, count;
};

/// Calls f for 0 ... n - 1 in pieces, in order.
template <class F>
void for_each_piece(Index n, F&& f) {
  for (Index at = 0; at < n; at += bf16_block) f(Range{at, std::min(bf16_block, n - at)});
}

Tensor part(const Tensor& t, Range rows, Range cols) {
  return t.row_range(rows.first, rows.count).col_range(cols.first, cols.count);
}

/// Rows and columns `rows`, `cols` of op(t), as it lies.
Tensor part(const Tensor& t, bool transposed, Range rows, Range cols) {
  return transposed ? part(t, cols, rows) : part(t, rows, cols);
}

Operand widened(const Tensor& t, bool transposed, float* room) {
  Operand operand = as_f32(t, room);
  operand.transpose = transposed ? Transpose::yes : Transpose::no;
  return operand;
}

/// A block of c while products are added to it: c itself, or f32 in `room`.
struct Sums {
  float* data;
  Index stride;
};

Sums begin(const Tensor& c, bool accumulate, float* room) {
  const bool in_place = c.dtype == DType::f32;
  const Sums sums = in_place ? Sums{c.as<float>(), c.stride} : Sums{room, c.cols};
  if (!accumulate)
    for (Index i = 0; i < c.rows; ++i) std::fill_n(sums.data + i * sums.stride, c.cols, 0.0f);
  else if (!in_place)
    widen(c, room);
  return sums;
}

}  // namespace

void multiply_bf16(const Gemm& op, float* room) {
  float *a = room, *b = a + bf16_block * bf16_block, *of_c = b + bf16_block * bf16_block;
  for_each_piece(op.c.cols, [&](Range cols) {
    for_each_piece(op.c.rows, [&](Range rows) {
      const Tensor c = part(op.c, rows, cols);
      const Sums sums = begin(c, op.accumulate, of_c);
      for_each_piece(op.k(), [&](Range inner) {
        const Operand left = widened(part(op.a, op.transpose_a, rows, inner), op.transpose_a, a);
        const Operand right = widened(part(op.b, op.transpose_b, inner, cols), op.transpose_b, b);
        multiply({rows.count, cols.count, inner.count}, 1, left, right, 1, sums.data, sums.stride);
      });
      if (c.dtype == DType::bf16) narrow(of_c, c);
    });
  });
}

}  // namespace cpplan::kernels::cpu
