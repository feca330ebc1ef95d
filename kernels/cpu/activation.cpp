#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

CPPLAN_VECTORISED void swiglu_row(const float* gate, const float* up, Index f, float* y) {
#pragma omp simd
  for (Index j = 0; j < f; ++j) y[j] = gate[j] * sigmoid(gate[j]) * up[j];
}

/// d silu(g) / dg = s (1 + g (1 - s)), s = sigmoid(g). Both s and 1 - s come from exp(-|g|), since
/// 1 - s by subtraction would lose its digits to g.
CPPLAN_VECTORISED void swiglu_row_backward(const float* gate, const float* up, const float* dy,
                                           Index f, float* dgate, float* dup) {
#pragma omp simd
  for (Index j = 0; j < f; ++j) {
    const float g = gate[j], e = fast_exp(g < 0 ? g : -g);
    const float large = 1.0f / (1.0f + e), small = e * large;
    const float s = g < 0 ? small : large, rest = g < 0 ? large : small;
    const float through_up = dy[j] * g * s;
    dgate[j] = dy[j] * up[j] * s * (1.0f + g * rest);
    dup[j] = through_up;
  }
}

}  // namespace

void CpuOps::run(const SwiGlu& op) {
  expect_f32(op.y);
  const Index f = op.y.cols;
  for (Index i = 0; i < op.y.rows; ++i) {
    const float* const gate = op.gate_up.row<float>(i);
    swiglu_row(gate, gate + f, f, op.y.row<float>(i));
  }
}

void CpuOps::run(const SwiGluBackward& op) {
  expect_f32(op.dy);
  const Index f = op.dy.cols;
  for (Index i = 0; i < op.dy.rows; ++i) {
    const float* const gate = op.gate_up.row<float>(i);
    float* const dgate = op.dgate_up.row<float>(i);
    swiglu_row_backward(gate, gate + f, op.dy.row<float>(i), f, dgate, dgate + f);
  }
}

}  // namespace cpplan::kernels::cpu
