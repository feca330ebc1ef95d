#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

template <class T>
CPPLAN_VECTORISED void swiglu_row(const T* gate, const T* up, Index f, T* y) {
#pragma omp simd
  for (Index j = 0; j < f; ++j) y[j] = gate[j] * sigmoid(gate[j]) * up[j];
}

/// d silu(g) / dg = s (1 + g (1 - s)), s = sigmoid(g). Both s and 1 - s come from exp(-|g|), since
/// 1 - s by subtraction would lose its digits to g.
template <class T>
CPPLAN_VECTORISED void swiglu_row_backward(const T* gate, const T* up, const T* dy, Index f,
                                           T* dgate, T* dup) {
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
  const Index f = op.y.cols;
  with_real_type_of(op.y, [&]<class T>(T*) {
    for (Index i = 0; i < op.y.rows; ++i) {
      const T* const gate = op.gate_up.row<T>(i);
      swiglu_row(gate, gate + f, f, op.y.row<T>(i));
    }
  });
}

void CpuOps::run(const SwiGluBackward& op) {
  const Index f = op.dy.cols;
  with_real_type_of(op.dy, [&]<class T>(T*) {
    for (Index i = 0; i < op.dy.rows; ++i) {
      const T *gate = op.gate_up.row<T>(i), *dy = op.dy.row<T>(i);
      T* const dgate = op.dgate_up.row<T>(i);
      swiglu_row_backward(gate, gate + f, dy, f, dgate, dgate + f);
    }
  });
}

}  // namespace cpplan::kernels::cpu
