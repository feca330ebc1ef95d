#pragma once
// What every attention kernel is told beside its work list.
#include "kernels/bf16.hpp"
#include "kernels/dropout.hpp"
#include "kernels/ops.hpp"

namespace cpplan::kernels::cuda {

/// A matrix on the device: a row holds heads of head_dim values, or one value a head.
template <class T>
struct Rows {
  T* data = nullptr;
  Index stride = 0;  // elements
  constexpr T* at(Index row, Index column) const { return data + row * stride + column; }
};

/// Attention-probability dropout, 0 = none.
struct DropoutArguments {
  Dropout dropout{};
  std::uint32_t threshold = 0;
  float factor = 1;  // of what is kept
  std::uint32_t first_head = 0;
};

struct AttentionArguments {
  int head_dim = 0;
  int heads_per_kv_head = 1;
  int left = 0, right = 0;  // Band
  float scale = 1;
  DropoutArguments dropout{};
};

template <class Op>
AttentionArguments attention_arguments(const Op& op) {
  constexpr Index unbounded = Index{1} << 29;  // of positions that work_lists() keeps below 2^28
  AttentionArguments a;
  a.head_dim = static_cast<int>(op.head_dim);
  a.heads_per_kv_head = static_cast<int>(op.q.cols / op.k.cols);
  a.left = static_cast<int>(std::clamp(op.band.left, -unbounded, unbounded));
  a.right = static_cast<int>(std::clamp(op.band.right, -unbounded, unbounded));
  a.scale = static_cast<float>(op.scale);
  a.dropout = {op.dropout, op.dropout.rate > 0 ? op.dropout.threshold() : 0,
               static_cast<float>(op.dropout.scale()), static_cast<std::uint32_t>(op.first_head)};
  return a;
}

template <class T>
Rows<T> rows_of(const Tensor& t) {
  return {t.as<T>(), t.stride};
}

}  // namespace cpplan::kernels::cuda
