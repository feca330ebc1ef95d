#pragma once
// The gradient's norm, in double and in a fixed order, and the update of the weights.
#include "kernels/adamw_update.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

inline constexpr unsigned square_threads = 256;

/// shares[b] is the sum of squares of the groups of block b, which takes every gridDim-th.
template <class T>
__global__ void square_shares(View<const T> x, Index rows, Index cols, double* shares) {
  const Index groups = ceil_div(cols, group), stride = Index{blocks_x()} * threads();
  double sum = 0;
  for (Index at = Index{block_x()} * threads() + thread(); at < rows * groups; at += stride) {
    const Index i = at / groups, j = at % groups * group;
    Wide<T> e[group];
    load(x.row(i) + j, cols - j, e);
    for (const auto value : e) sum += static_cast<double>(value) * static_cast<double>(value);
  }
  sum = block_sum(sum, dynamic_shared<double>());
  if (thread() == 0) shares[block_x()] = sum;
}

static __global__ void sum_shares(const double* shares, Index count, double* out) {
  double sum = 0;
  for (Index i = thread(); i < count; i += threads()) sum += shares[i];
  sum = block_sum(sum, dynamic_shared<double>());
  if (thread() == 0) *out = sum;
}

/// Four elements a thread: 16 bytes of each of the four tensors in f32.
inline constexpr int update_group = 4;

/// R: the type of the rounded weights.
template <class R>
struct UpdateGroup {
  AdamWUpdate u;
  View<float> p, m, v;
  View<const float> g;
  View<R> rounded;  // no data: there are none

  __device__ void operator()(Index i, Index j, Index left) const {
    float weight[update_group], grad[update_group], first[update_group], second[update_group];
    load(p.row(i) + j, left, weight);
    load(g.row(i) + j, left, grad);
    load(m.row(i) + j, left, first);
    load(v.row(i) + j, left, second);
    for (int n = 0; n < update_group; ++n) {
      const float scaled = grad[n] * u.grad_scale;
      first[n] = u.beta1 * first[n] + u.one_minus_beta1 * scaled;
      second[n] = u.beta2 * second[n] + u.one_minus_beta2 * scaled * scaled;
      const float step =
          first[n] * u.first_correction / (sqrtf(second[n] * u.second_correction) + u.epsilon);
      weight[n] -= u.learning_rate * (step + u.weight_decay * weight[n]);
    }
    store(weight, left, p.row(i) + j);
    store(first, left, m.row(i) + j);
    store(second, left, v.row(i) + j);
    if (rounded.data != nullptr) store(weight, left, rounded.row(i) + j);
  }
};

inline void CudaOps::run(const SquaredNorm& op) {
  constexpr Index most_blocks = 1024;
  const auto [rows, cols] = flattened(op.x);
  const Index groups = rows * ceil_div(cols, group);
  const Index blocks = std::clamp<Index>(ceil_div(groups, square_threads), 1, most_blocks);
  auto* const shares =
      reinterpret_cast<double*>(workspace({blocks * Index{sizeof(double)}}).data());
  const LaunchShape shape{.grid_x = static_cast<unsigned>(blocks),
                          .threads = square_threads,
                          .shared_bytes = together_bytes};
  with_real_type_of(op.x, [&, rows = rows, cols = cols]<class T>(T*) {
    launch(square_shares<T>, shape, stream_, input<T>(op.x), rows, cols, shares);
  });
  launch(sum_shares, row_launch(1, blocks * group), stream_, shares, blocks, op.out.as<double>());
}

inline void CudaOps::run(const AdamW& op) {
  expect(op.p.dtype == DType::f32, "weights are updated in f32");
  const Tensor& rounded = op.has_rounded() ? op.rounded : op.p;
  const Extent extent = flattened(op.p, op.g, op.m, op.v, rounded);
  with_real_type_of(rounded, [&]<class R>(R*) {
    const UpdateGroup<R> update{AdamWUpdate(op),     output<float>(op.p), output<float>(op.m),
                                output<float>(op.v), input<float>(op.g),  output<R>(op.rounded)};
    each_group<update_group>(stream_, extent.rows, extent.cols, update);
  });
}

}  // namespace cpplan::kernels::cuda
