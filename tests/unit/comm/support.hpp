#pragma once
// Matrices that own their memory, filled so that the order of a sum shows in its last bits.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/bf16.hpp"
#include "kernels/tensor.hpp"

namespace cpplan::comm::test {
using kernels::Bf16;
using kernels::DType;
using kernels::Tensor;

/// [rows, cols] inside rows of `stride` elements; all of it NaN (or the least integer) at first.
class Matrix {
 public:
  Matrix(DType dtype, Index rows, Index cols, Index stride = 0)
      : dtype_(dtype), rows_(rows), cols_(cols), stride_(stride == 0 ? cols : stride) {
    memory_.resize(static_cast<std::size_t>(rows_ * stride_ * size_of(dtype_)));
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < stride_; ++j) put(i, j, std::numeric_limits<double>::quiet_NaN());
  }

  Tensor tensor() { return {memory_.data(), rows_, cols_, stride_, dtype_}; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  const std::vector<std::byte>& memory() const { return memory_; }

  double at(Index i, Index j) const {
    if (dtype_ == DType::f64) return read<double>(i, j);
    if (dtype_ == DType::f32) return read<float>(i, j);
    if (dtype_ == DType::bf16) return read<Bf16>(i, j);
    return read<std::int32_t>(i, j);
  }

  void put(Index i, Index j, double value) {
    const auto integer = std::isnan(value) ? std::numeric_limits<std::int32_t>::min()
                                           : static_cast<std::int32_t>(value);
    if (dtype_ == DType::f64) write(i, j, value);
    if (dtype_ == DType::f32) write(i, j, static_cast<float>(value));
    if (dtype_ == DType::bf16) write(i, j, static_cast<Bf16>(value));
    if (dtype_ == DType::i32) write(i, j, integer);
  }

 private:
  std::byte* address(Index i, Index j) {
    return memory_.data() + (i * stride_ + j) * size_of(dtype_);
  }
  template <class T>
  T read(Index i, Index j) const {
    T value;
    std::memcpy(&value, memory_.data() + (i * stride_ + j) * size_of(dtype_), sizeof value);
    return value;
  }
  template <class T>
  void write(Index i, Index j, T value) {
    std::memcpy(address(i, j), &value, sizeof value);
  }

  DType dtype_;
  Index rows_, cols_, stride_;
  std::vector<std::byte> memory_;
};

/// What `rank` contributes at (i, j): integers below 1000, or reals over six orders of magnitude.
inline double value_of(DType dtype, int rank, Index i, Index j) {
  const auto mix = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  const std::uint64_t bits =
      mix(static_cast<std::uint64_t>((Index{rank} + 1) * 1000003 + i * 1009 + j));
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
  if (dtype == DType::i32) return std::floor(unit * 2000);
  const double value = std::ldexp(unit, static_cast<int>(bits % 20) - 10);
  if (dtype == DType::bf16) return static_cast<Bf16>(value);
  return dtype == DType::f32 ? static_cast<float>(value) : value;
}

inline Matrix filled(DType dtype, int rank, Index rows, Index cols, Index stride = 0) {
  Matrix matrix(dtype, rows, cols, stride);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix.put(i, j, value_of(dtype, rank, i, j));
  return matrix;
}

}  // namespace cpplan::comm::test
