#pragma once
// RMSNorm: a block a row, which is read from memory once and a second time from the cache. The
// gradient of the weight is summed by each block over rows of its own, in shared memory, and then
// over blocks, both in a fixed order.
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

template <class T>
__global__ void rms_norm(View<const T> x, const T* weight, View<T> y, View<float> rstd, Index h,
                         float epsilon) {
  const Index i = block_x();
  const T* const row = x.row(i);
  float squares = 0;
  own_groups(h, [&](Index j, Index left) {
    float e[group];
    load(row + j, left, e);
    for (const float value : e) squares += value * value;
  });
  const float mean = block_sum(squares, dynamic_shared<float>()) / static_cast<float>(h);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  own_groups(h, [&](Index j, Index left) {
    float e[group], w[group];
    load(row + j, left, e);
    load(weight + j, left, w);
    for (int n = 0; n < group; ++n) e[n] *= factor * w[n];
    store(e, left, y.row(i) + j);
  });
  if (thread() == 0) *rstd.row(i) = factor;
}

template <class T>
struct NormGradient {
  View<const T> x, dy;
  const T* weight;
  View<const float> rstd;
  View<T> dx;
};

/// dx += rstd (dy weight - x s), s = rstd^2 mean(dy weight x); sums += dy x rstd.
template <class T>
__device__ void row_gradient(const NormGradient<T>& g, Index i, Index h, float* sums, void* room) {
  const T *x = g.x.row(i), *dy = g.dy.row(i);
  float e[group], d[group], w[group], before[group], product = 0;
  own_groups(h, [&](Index j, Index left) {
    load(x + j, left, e);
    load(dy + j, left, d);
    load(g.weight + j, left, w);
    for (int n = 0; n < group; ++n) product += d[n] * w[n] * e[n];
  });
  const float rstd = *g.rstd.row(i);
  const float s = block_sum(product, room) * rstd * rstd / static_cast<float>(h);
  own_groups(h, [&](Index j, Index left) {
    load(x + j, left, e);
    load(dy + j, left, d);
    load(g.weight + j, left, w);
    load(g.dx.row(i) + j, left, before);
    for (int n = 0; n < group; ++n) {
      before[n] += rstd * (d[n] * w[n] - e[n] * s);
      if (n < left) sums[j + n] += d[n] * e[n] * rstd;
    }
    store(before, left, g.dx.row(i) + j);
  });
}

/// Block b takes rows b * rows_a_block and on; its share of dweight is row b of `shares`.
template <class T>
__global__ void rms_norm_backward(NormGradient<T> g, Index rows, Index rows_a_block, Index h,
                                  float* shares) {
  auto* const room = dynamic_shared<std::byte>();
  auto* const sums = reinterpret_cast<float*>(room + together_bytes);
  own_groups(h, [&](Index j, Index left) {
    for (int n = 0; n < group; ++n)
      if (n < left) sums[j + n] = 0;
  });
  const Index first = block_x() * rows_a_block;
  for (Index i = first; i < rows && i < first + rows_a_block; ++i)
    row_gradient(g, i, h, sums, room);
  own_groups(h, [&](Index j, Index left) {
    for (int n = 0; n < group; ++n)
      if (n < left) shares[block_x() * h + j + n] = sums[j + n];
  });
}

/// sums[j] += sum over rows of shares [rows, cols]. A block takes 32 columns, a warp of it every
/// eighth row.
inline constexpr int column_warps = 8;
static __global__ void add_column_sums(const float* shares, Index rows, Index cols, float* sums) {
  auto* const of_warps = dynamic_shared<float>();
  const Index j = Index{block_x()} * warp_threads + lane();
  float sum = 0;
  if (j < cols)
    for (Index i = warp(); i < rows; i += column_warps) sum += shares[i * cols + j];
  of_warps[thread()] = sum;
  sync_block();
  if (warp() != 0 || j >= cols) return;
  for (int w = 1; w < column_warps; ++w) sum += of_warps[w * warp_threads + lane()];
  sums[j] += sum;
}

inline void CudaOps::run(const RmsNorm& op) {
  if (op.x.rows == 0) return;
  with_real_type_of(op.x, [&]<class T>(T*) {
    launch(rms_norm<T>, row_launch(op.x.rows, op.x.cols), stream_, input<T>(op.x),
           op.weight.as<const T>(), output<T>(op.y), output<float>(op.rstd), op.x.cols,
           static_cast<float>(op.epsilon));
  });
}

inline void CudaOps::run(const RmsNormBackward& op) {
  constexpr Index most_blocks = 256;  // two on each multiprocessor of a large device
  const Index n = op.x.rows, h = op.x.cols;
  if (n == 0) return;
  const Index rows_a_block = ceil_div(n, std::min(n, most_blocks));
  const Index blocks = ceil_div(n, rows_a_block);
  auto* const shares =
      reinterpret_cast<float*>(workspace({blocks * h * Index{sizeof(float)}}).data());
  LaunchShape shape = row_launch(blocks, h);
  shape.shared_bytes += h * Index{sizeof(float)};
  with_real_type_of(op.x, [&]<class T>(T*) {
    const NormGradient<T> gradient{input<T>(op.x), input<T>(op.dy), op.weight.as<const T>(),
                                   input<float>(op.rstd), output<T>(op.dx)};
    launch(rms_norm_backward<T>, shape, stream_, gradient, n, rows_a_block, h, shares);
  });
  constexpr unsigned threads = column_warps * warp_threads;
  launch(add_column_sums,
         {.grid_x = static_cast<unsigned>(ceil_div(h, warp_threads)),
          .threads = threads,
          .shared_bytes = Index{threads} * Index{sizeof(float)}},
         stream_, shares, blocks, h, op.dweight.as<float>());
}

}  // namespace cpplan::kernels::cuda
