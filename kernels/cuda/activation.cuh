#pragma once
// SwiGLU: a thread a group of features.
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

template <class T>
struct SwiGluGroup {
  View<const T> gate_up;
  View<T> y;
  Index f;

  __device__ void operator()(Index i, Index j, Index left) const {
    float gate[group], up[group];
    load(gate_up.row(i) + j, left, gate);
    load(gate_up.row(i) + f + j, left, up);
    for (int n = 0; n < group; ++n) gate[n] *= up[n] / (1.0f + expf(-gate[n]));
    store(gate, left, y.row(i) + j);
  }
};

/// d silu(g) / dg = s (1 + g (1 - s)), s = sigmoid(g). Both s and 1 - s come from exp(-|g|), since
/// 1 - s by subtraction would lose its digits to g.
template <class T>
struct SwiGluBackwardGroup {
  View<const T> gate_up, dy;
  View<T> dgate_up;
  Index f;

  __device__ void operator()(Index i, Index j, Index left) const {
    float gate[group], up[group], d[group];
    load(gate_up.row(i) + j, left, gate);
    load(gate_up.row(i) + f + j, left, up);
    load(dy.row(i) + j, left, d);
    for (int n = 0; n < group; ++n) {
      const float g = gate[n], e = expf(-fabsf(g));
      const float large = 1.0f / (1.0f + e), small = e * large;
      const float s = g < 0 ? small : large, rest = g < 0 ? large : small;
      gate[n] = d[n] * up[n] * s * (1.0f + g * rest);
      up[n] = d[n] * g * s;
    }
    store(gate, left, dgate_up.row(i) + j);
    store(up, left, dgate_up.row(i) + f + j);
  }
};

inline void CudaOps::run(const SwiGlu& op) {
  with_real_type_of(op.y, [&]<class T>(T*) {
    each_group<group>(stream_, op.y.rows, op.y.cols,
                      SwiGluGroup<T>{input<T>(op.gate_up), output<T>(op.y), op.y.cols});
  });
}

inline void CudaOps::run(const SwiGluBackward& op) {
  with_real_type_of(op.dy, [&]<class T>(T*) {
    each_group<group>(stream_, op.dy.rows, op.dy.cols,
                      SwiGluBackwardGroup<T>{input<T>(op.gate_up), input<T>(op.dy),
                                             output<T>(op.dgate_up), op.dy.cols});
  });
}

}  // namespace cpplan::kernels::cuda
