#pragma once
// A view of a row-major matrix, on any device; owns nothing. The engine is token-major,
// [tokens, features], so two dimensions are all it has: heads are column ranges, sequence shards
// row ranges. On the meta backend `data` is an address that nobody reads.
#include <cstddef>

#include "base/contract.hpp"
#include "base/units.hpp"

namespace cpplan::kernels {

enum class DType : std::uint8_t { i32, bf16, f32, f64 };

constexpr Index size_of(DType t) {
  switch (t) {
    case DType::bf16:
      return 2;
    case DType::f64:
      return 8;
    case DType::i32:
    case DType::f32:
      return 4;
  }
  return 0;
}

/// The type in which sums over values of type `t` are kept.
constexpr DType accumulator(DType t) {
  return t == DType::f64 ? DType::f64 : DType::f32;
}

struct Tensor {
  std::byte* data = nullptr;
  Index rows = 0, cols = 0;
  Index stride = 0;  // elements from one row to the next
  DType dtype = DType::f32;

  Tensor row_range(Index first, Index count) const {
    expect(first >= 0 && count >= 0 && first + count <= rows, "row range inside the tensor");
    return {data + first * stride * size_of(dtype), count, cols, stride, dtype};
  }
  Tensor col_range(Index first, Index count) const {
    expect(first >= 0 && count >= 0 && first + count <= cols, "column range inside the tensor");
    return {data + first * size_of(dtype), rows, count, stride, dtype};
  }
  Index elements() const { return rows * cols; }
  Bytes bytes() const { return {elements() * size_of(dtype)}; }
  bool contiguous() const { return stride == cols || rows <= 1; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  template <class T>
  T* row(Index i) const {
    return as<T>() + i * stride;
  }
};

constexpr bool same_shape(const Tensor& a, const Tensor& b) {
  return a.rows == b.rows && a.cols == b.cols;
}

}  // namespace cpplan::kernels
