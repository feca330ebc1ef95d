#pragma once
// Dropout of hidden values: a thread's group of eight features is one Philox call, so the masks are
// bit for bit those of the host.
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

/// The mask of a [tokens, features] matrix.
struct HiddenMask {
  View<const std::int32_t> rows;  // (index, sample); index -1: padding
  Dropout dropout;
  std::uint32_t threshold;
  float scale;

  explicit HiddenMask(const Tensor& names, const Dropout& d)
      : rows(input<std::int32_t>(names)),
        dropout(d),
        threshold(d.threshold()),
        scale(static_cast<float>(d.scale())) {}

  /// Multiplies with the mask; what falls becomes 0, whatever it was.
  __device__ void apply(Index i, Index j, float (&x)[group]) const {
    const std::int32_t* const name = rows.row(i);
    const bool padding = name[0] < 0;
    const PhiloxCounter words =
        hidden_words(dropout, j, name[0], Index{dropout.first_sample} + name[1]);
    for (int n = 0; n < group; ++n)
      x[n] = padding || dropout_lane(words, n) < threshold ? 0.0f : scale * x[n];
  }
};

template <class T>
struct DropoutAddGroup {
  View<const T> x, branch;
  View<T> y;
  HiddenMask mask;

  __device__ void operator()(Index i, Index j, Index left) const {
    float sum[group], b[group];
    load(x.row(i) + j, left, sum);
    load(branch.row(i) + j, left, b);
    if (mask.dropout.rate > 0) mask.apply(i, j, b);
    for (int n = 0; n < group; ++n) sum[n] += b[n];
    store(sum, left, y.row(i) + j);
  }
};

template <class T>
struct DropoutBackwardGroup {
  View<const T> dy;
  View<T> dbranch;
  HiddenMask mask;

  __device__ void operator()(Index i, Index j, Index left) const {
    float d[group];
    load(dy.row(i) + j, left, d);
    mask.apply(i, j, d);
    store(d, left, dbranch.row(i) + j);
  }
};

inline void CudaOps::run(const DropoutAdd& op) {
  with_real_type_of(op.x, [&]<class T>(T*) {
    each_group<group>(stream_, op.x.rows, op.x.cols,
                      DropoutAddGroup<T>{input<T>(op.x), input<T>(op.branch), output<T>(op.y),
                                         HiddenMask(op.rows, op.dropout)});
  });
}

inline void CudaOps::run(const DropoutBackward& op) {
  if (op.dropout.rate == 0) return run(Copy{op.dy, op.dbranch});
  with_real_type_of(op.dy, [&]<class T>(T*) {
    each_group<group>(stream_, op.dy.rows, op.dy.cols,
                      DropoutBackwardGroup<T>{input<T>(op.dy), output<T>(op.dbranch),
                                              HiddenMask(op.rows, op.dropout)});
  });
}

}  // namespace cpplan::kernels::cuda
