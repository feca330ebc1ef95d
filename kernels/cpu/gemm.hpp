#pragma once
// The one matrix product of this folder, for whole tensors and for attention's tiles alike. It is
// one of f32. bf16 is widened a block at a time: that needs no bf16 instructions, and where they
// are no faster than those of f32 (Intel without AMX), oneDNN's own bf16 product takes twice as
// long.
#include "kernels/cpu/element_types.hpp"
#include "kernels/ops.hpp"

namespace cpplan::kernels::cpu {

enum class Transpose : bool { no, yes };

/// A row-major matrix as it lies in memory; `stride` elements from row to row.
struct Operand {
  const float* data;
  Index stride;
  Transpose transpose = Transpose::no;
};
/// `t` where it lies if it is f32, else widened into `room`, of t.elements() floats.
Operand as_f32(const Tensor& t, float* room);

struct ProductShape {
  Index m, n, k;
};

/// c [m, n] = alpha op(a) op(b) + beta c, on the calling thread. With beta 0, c is not read.
void multiply(ProductShape shape, float alpha, Operand a, Operand b, float beta, float* c,
              Index c_stride);

/// Edge of the blocks that are widened; three of them stay in the L2 cache.
inline constexpr Index bf16_block = 384;
/// Floats to work in.
inline constexpr Index bf16_room = 3 * bf16_block * bf16_block;
/// The op on bf16 a and b, and bf16 or f32 c: sums in f32, rounded once.
void multiply_bf16(const Gemm& op, float* room);

}  // namespace cpplan::kernels::cpu
