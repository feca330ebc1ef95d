#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/vector_math.hpp"
#include "kernels/normal.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// Calls f with a null pointer of the element type.
template <class F>
void with_type_of(const Tensor& t, F&& f) {
  switch (t.dtype) {
    case DType::f32:
      return f(static_cast<float*>(nullptr));
    case DType::f64:
      return f(static_cast<double*>(nullptr));
    case DType::i32:
      return f(static_cast<std::int32_t*>(nullptr));
    case DType::bf16:
      expect(false, "the cpu backend has no bf16");
  }
}

/// Calls f(row of x, row of y) for every row, with their own element types.
template <class F>
void for_each_row(const Tensor& x, const Tensor& y, F&& f) {
  with_type_of(x, [&]<class X>(X*) {
    with_type_of(y, [&]<class Y>(Y*) {
      for (Index i = 0; i < x.rows; ++i) f(std::as_const(x).row<X>(i), y.row<Y>(i));
    });
  });
}

}  // namespace

void CpuOps::run(const Fill& op) {
  with_type_of(op.x, [&]<class T>(T*) {
    for (Index i = 0; i < op.x.rows; ++i)
      std::fill_n(op.x.row<T>(i), op.x.cols, static_cast<T>(op.value));
  });
}

void CpuOps::run(const Copy& op) {
  for_each_row(op.x, op.y, [&]<class X, class Y>(const X* x, Y* y) {
    for (Index j = 0; j < op.x.cols; ++j) y[j] = static_cast<Y>(x[j]);
  });
}

void CpuOps::run(const Add& op) {
  for_each_row(op.x, op.y, [&]<class X, class Y>(const X* x, Y* y) {
    for (Index j = 0; j < op.x.cols; ++j) y[j] += static_cast<Y>(x[j]);
  });
}

void CpuOps::run(const Normal& op) {
  expect_f32(op.x);
  for (Index i = 0; i < op.x.rows; ++i)
    for (Index j = 0; j < op.x.cols; ++j)
      op.x.row<float>(i)[j] = static_cast<float>(normal_element(op, i, j));
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
