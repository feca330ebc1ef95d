#pragma once
// Elements as kernels read and write them: in groups of a few neighbours that belong to one thread,
// as 128-bit accesses where the address allows and one by one where it does not, so that no kernel
// asks how its tensors are aligned. What is computed with is float, or double where elements are.
#include <cstdint>

#include "kernels/cuda/primitives.cuh"
#include "kernels/tensor.hpp"

namespace cpplan::kernels::cuda {

/// A tensor on the device: where each row begins.
template <class T>
struct View {
  T* data = nullptr;
  Index stride = 0;
  __device__ T* row(Index i) const { return data + i * stride; }
};

template <class T>
View<const T> input(const Tensor& t) {
  return {t.as<const T>(), t.stride};
}
template <class T>
View<T> output(const Tensor& t) {
  return {t.as<T>(), t.stride};
}

template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<Bf16> {
  using type = float;
};
/// The type in which an element is computed with.
template <class T>
using Wide = typename WideOf<T>::type;

__device__ inline float widened(Bf16 x) {
  return to_float(x);
}
template <class T>
__device__ T widened(T x) {
  return x;
}

/// What one access moves: 16 bytes, or all of a group that has less.
template <class T, int n>
struct alignas(n * sizeof(T)) Chunk {
  T elements[n];
};
template <class T, int n>
inline constexpr int chunk_length = n* int{sizeof(T)} <= 16 ? n : 16 / int{sizeof(T)};

template <class C>
__device__ bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(C) == 0;
}

/// x[0 ... n - 1] from `from`, of which `left` elements are there; the rest becomes 0.
template <int n, class T>
__device__ void load(const T* from, Index left, Wide<T> (&x)[n]) {
  constexpr int length = chunk_length<T, n>;
  using Part = Chunk<T, length>;
  if (left >= n && is_aligned<Part>(from)) {
    for (int part = 0; part < n / length; ++part) {
      const Part chunk = reinterpret_cast<const Part*>(from)[part];
      for (int e = 0; e < length; ++e) x[part * length + e] = widened(chunk.elements[e]);
    }
    return;
  }
  for (int e = 0; e < n; ++e) x[e] = e < left ? widened(from[e]) : Wide<T>{};
}

__device__ inline void assign(Bf16& to, float x) {
  to = to_bf16(x);
}
template <class T, class W>
__device__ void assign(T& to, W x) {
  to = static_cast<T>(x);
}

/// x[0 ... n - 1], each rounded once, to `to`, where there is room for `left` elements.
template <int n, class W, class T>
__device__ void store(const W (&x)[n], Index left, T* to) {
  constexpr int length = chunk_length<T, n>;
  using Part = Chunk<T, length>;
  if (left >= n && is_aligned<Part>(to)) {
    for (int part = 0; part < n / length; ++part) {
      Part chunk;
      for (int e = 0; e < length; ++e) assign(chunk.elements[e], x[part * length + e]);
      reinterpret_cast<Part*>(to)[part] = chunk;
    }
    return;
  }
  for (int e = 0; e < n; ++e)
    if (e < left) assign(to[e], x[e]);
}

/// Elements of one thread of a row: eight of bf16 are 16 bytes, and the features of one Philox
/// call.
inline constexpr int group = 8;

}  // namespace cpplan::kernels::cuda
