#include <cstring>

#include "kernels/normal.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

double value_at(const Tensor& t, Index i, Index j) {
  switch (t.dtype) {
    case DType::f64:
      return t.row<double>(i)[j];
    case DType::f32:
      return static_cast<double>(t.row<float>(i)[j]);
    case DType::i32:
      return t.row<std::int32_t>(i)[j];
    case DType::bf16:
      break;
  }
  expect(false, "the reference has no bf16");
  return 0;
}

void set(const Tensor& t, Index i, Index j, double value) {
  switch (t.dtype) {
    case DType::f64:
      t.row<double>(i)[j] = value;
      return;
    case DType::f32:
      t.row<float>(i)[j] = static_cast<float>(value);
      return;
    case DType::i32:
      t.row<std::int32_t>(i)[j] = static_cast<std::int32_t>(value);
      return;
    case DType::bf16:
      expect(false, "the reference has no bf16");
  }
}

/// t[i, j] = f(i, j).
template <class F>
void assign(const Tensor& t, F&& f) {
  for (Index i = 0; i < t.rows; ++i)
    for (Index j = 0; j < t.cols; ++j) set(t, i, j, f(i, j));
}

}  // namespace

void ReferenceOps::run(const Fill& op) {
  assign(op.x, [&](Index, Index) { return op.value; });
}

void ReferenceOps::run(const Copy& op) {
  assign(op.y, [&](Index i, Index j) { return value_at(op.x, i, j); });
}

void ReferenceOps::run(const Add& op) {
  assign(op.y, [&](Index i, Index j) { return value_at(op.y, i, j) + value_at(op.x, i, j); });
}

void ReferenceOps::run(const Normal& op) {
  assign(op.x, [&](Index i, Index j) { return normal_element(op, i, j); });
}

void ReferenceOps::run(const Upload& op) {
  if (op.x.elements() > 0)
    std::memcpy(op.x.data, op.from, static_cast<std::size_t>(op.x.bytes().count));
}

void ReferenceOps::run(const Download& op) {
  if (op.x.elements() > 0)
    std::memcpy(op.to, op.x.data, static_cast<std::size_t>(op.x.bytes().count));
}

}  // namespace cpplan::kernels::reference
