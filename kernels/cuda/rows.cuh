#pragma once
// Two shapes of kernel that most ops have: a thread for every group of a matrix, and a block for
// every row, whose threads take its groups in turn and sum over it together. Sums are in an order
// that the shape of the tensor fixes, so that the same arguments give the same bits.
#include "kernels/cuda/groups.cuh"

namespace cpplan::kernels::cuda {

inline constexpr int most_row_threads = 512;
inline constexpr int warp_threads = 32;

/// Threads of a block that walks rows of `cols` elements: a warp at least, a group each at best.
constexpr unsigned row_threads(Index cols) {
  const Index wanted = round_up(ceil_div(cols, group), warp_threads);
  return static_cast<unsigned>(wanted < warp_threads       ? Index{warp_threads}
                               : wanted > most_row_threads ? Index{most_row_threads}
                                                           : wanted);
}

/// Calls f(first column, elements from there on) for the groups of a row that are this thread's.
template <class F>
__device__ void own_groups(Index cols, F&& f) {
  for (Index j = Index{group} * thread(); j < cols; j += Index{group} * threads()) f(j, cols - j);
}

/// Shared memory that together() needs.
inline constexpr Index together_bytes = 32 * sizeof(double);

/// The values of all threads of the block, combined; every thread gets the result. `room`: shared.
template <class V, class Combine>
__device__ V together(V value, void* room, Combine combine) {
  V* const of_warps = static_cast<V*>(room);
  for (int distance = warp_threads / 2; distance > 0; distance /= 2)
    value = combine(value, shuffle_xor(value, distance));
  sync_block();  // what was combined before has been read
  if (lane() == 0) of_warps[warp()] = value;
  sync_block();
  V all = of_warps[0];
  for (int w = 1; w < threads() / warp_threads; ++w) all = combine(all, of_warps[w]);
  return all;
}

template <class V>
__device__ V block_sum(V value, void* room) {
  return together(value, room, [](V a, V b) { return a + b; });
}

/// Calls f(row, first column, elements from there on) for the groups of n elements of a [rows,
/// cols] matrix, a thread each. Contract: fewer than 2^32 groups.
template <int n, class F>
__global__ void for_each_group(Index rows, Index cols, F f) {
  const auto groups = static_cast<std::uint32_t>((cols + n - 1) / n);
  const Index at = Index{block_x()} * threads() + thread();
  if (at >= rows * groups) return;
  const std::uint32_t row = static_cast<std::uint32_t>(at) / groups;
  const Index first = Index{n} * (static_cast<std::uint32_t>(at) - row * groups);
  f(Index{row}, first, cols - first);
}

/// Queues f for every group of a matrix.
template <int n, class F>
void each_group(const Stream& stream, Index rows, Index cols, const F& f,
                Place place = Place::current()) {
  constexpr unsigned block = 256;
  const Index count = rows * ceil_div(cols, n);
  if (count == 0) return;
  expect(count < Index{1} << 32, "a kernel counts its groups in 32 bits");
  launch(
      for_each_group<n, F>,
      {.grid_x = static_cast<unsigned>(ceil_div(count, block)), .threads = block, .place = place},
      stream, rows, cols, f);
}

/// Of a block for every row.
inline LaunchShape row_launch(Index rows, Index cols, Place place = Place::current()) {
  return {.grid_x = static_cast<unsigned>(rows),
          .threads = row_threads(cols),
          .shared_bytes = together_bytes,
          .place = place};
}

/// A matrix as one long row where its rows lie side by side in all of the tensors.
struct Extent {
  Index rows, cols;
};
template <class... T>
Extent flattened(const Tensor& first, const T&... others) {
  const bool gapless = first.contiguous() && (others.contiguous() && ...);
  return gapless ? Extent{first.elements() > 0, first.elements()} : Extent{first.rows, first.cols};
}

/// Calls f with a null pointer of the element type, of the two that this backend computes on.
template <class F>
void with_real_type_of(const Tensor& t, F&& f) {
  if (t.dtype == DType::bf16) return f(static_cast<Bf16*>(nullptr));
  expect(t.dtype == DType::f32, "the cuda backend computes on f32 and bf16");
  f(static_cast<float*>(nullptr));
}

}  // namespace cpplan::kernels::cuda
