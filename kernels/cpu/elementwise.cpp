#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"
#include "kernels/normal.hpp"

namespace cpplan::kernels::cpu {
namespace {

template <class T>
constexpr bool is_index = std::is_same_v<T, std::int32_t>;

/// Calls f(row of x, row of y) for every row, with their own element types: both values or both
/// indices.
template <class F>
void for_each_row(const Tensor& x, const Tensor& y, F&& f) {
  with_type_of(x, [&]<class X>(X*) {
    with_type_of(y, [&]<class Y>(Y*) {
      if constexpr (is_index<X> == is_index<Y>)
        for (Index i = 0; i < x.rows; ++i) f(std::as_const(x).row<X>(i), y.row<Y>(i));
    });
  });
}

template <class T>
void copy_row(const T* x, Index n, T* y) {
  std::copy_n(x, n, y);
}

template <class X, class Y>
CPPLAN_VECTORISED void copy_row(const X* x, Index n, Y* y) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) y[j] = x[j];
}

template <class X, class Y>
CPPLAN_VECTORISED void add_row(const X* x, Index n, Y* y) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) y[j] = y[j] + x[j];
}

}  // namespace

void CpuOps::run(const Fill& op) {
  with_type_of(op.x, [&]<class T>(T*) {
    for (Index i = 0; i < op.x.rows; ++i)
      std::fill_n(op.x.row<T>(i), op.x.cols, static_cast<T>(op.value));
  });
}

void CpuOps::run(const Copy& op) {
  for_each_row(op.x, op.y, [&](const auto* x, auto* y) { copy_row(x, op.x.cols, y); });
}

void CpuOps::run(const Add& op) {
  for_each_row(op.x, op.y, [&](const auto* x, auto* y) { add_row(x, op.x.cols, y); });
}

void CpuOps::run(const Normal& op) {
  with_real_type_of(op.x, [&]<class T>(T*) {
    for (Index i = 0; i < op.x.rows; ++i)
      for (Index j = 0; j < op.x.cols; ++j)
        op.x.row<T>(i)[j] = static_cast<T>(normal_element(op, i, j));
  });
}

void CpuOps::run(const Upload& op) {
  if (op.x.elements() > 0)
    std::memcpy(op.x.data, op.from, static_cast<std::size_t>(op.x.bytes().count));
}

void CpuOps::run(const Download& op) {
  if (op.x.elements() > 0)
    std::memcpy(op.to, op.x.data, static_cast<std::size_t>(op.x.bytes().count));
}

}  // namespace cpplan::kernels::cpu
