#pragma once
// Which attentions tensor cores take, and in which of the sizes that are compiled.
#include "kernels/bf16.hpp"
#include "kernels/cuda/attention_blocks.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/ops.hpp"

namespace cpplan::kernels::cuda {

inline constexpr Index greatest_head_dim = 256;

/// Rows that start at multiples of `bytes`.
inline bool aligned(const Tensor& t, Index bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(t.data);
  return address % static_cast<std::uintptr_t>(bytes) == 0 &&
         t.stride * size_of(t.dtype) % bytes == 0;
}

template <class... T>
bool aligned_rows(Index bytes, const T&... tensors) {
  return (aligned(tensors, bytes) && ...);
}

/// Whether tensor cores take the inputs that forward and backward have.
template <class Op>
bool tensor_cores_take(const Op& op) {
  return op.q.dtype == DType::bf16 && op.head_dim % 8 == 0 && aligned_rows(16, op.q, op.k, op.v);
}

/// Calls f.template operator()<T>() with the type of the inputs.
template <class Op, class F>
void with_element_type(const Op& op, F&& f) {
  expect(op.head_dim <= greatest_head_dim, "head dimensions of attention up to 256");
  expect(op.q.dtype == DType::bf16 || op.q.dtype == DType::f32, "attention on f32 and bf16");
  if (op.q.dtype == DType::bf16) return f.template operator()<Bf16>();
  f.template operator()<float>();
}

/// A thread block for each tile of the list and each head.
inline LaunchShape tile_launch(Index heads, const WorkList& work, int threads, Index shared_bytes,
                               Place place = Place::current()) {
  constexpr int greatest_grid_y = 65535;
  expect(work.tiles <= greatest_grid_y, "the tiles of one launch of attention fit a grid");
  return {.grid_x = static_cast<unsigned>(heads),
          .grid_y = static_cast<unsigned>(work.tiles),
          .threads = static_cast<unsigned>(threads),
          .shared_bytes = shared_bytes,
          .place = place};
}

/// Calls f.template operator()<size>() with the least compiled size that holds head_dim; what is
/// above it is zeros.
template <class F>
void with_tensor_core_size(Index head_dim, F&& f) {
  expect(head_dim <= greatest_head_dim, "head dimensions of attention up to 256");
  if (head_dim <= 64) return f.template operator()<64>();
  if (head_dim <= 96) return f.template operator()<96>();
  if (head_dim <= 128) return f.template operator()<128>();
  f.template operator()<256>();
}

}  // namespace cpplan::kernels::cuda
