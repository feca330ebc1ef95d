#pragma once
// From a tensor's dtype to the C++ type of its elements: kernels are templates over it, and those
// of bf16 compute in float, to which an element converts as it is read.
#include "kernels/bf16.hpp"
#include "kernels/tensor.hpp"

namespace cpplan::kernels::cpu {

/// Calls f with a null pointer of the element type.
template <class F>
void with_type_of(const Tensor& t, F&& f) {
  switch (t.dtype) {
    case DType::bf16:
      return f(static_cast<Bf16*>(nullptr));
    case DType::f32:
      return f(static_cast<float*>(nullptr));
    case DType::f64:
      return f(static_cast<double*>(nullptr));
    case DType::i32:
      return f(static_cast<std::int32_t*>(nullptr));
  }
}

/// The same for the two types that the kernels of this folder compute on.
template <class F>
void with_real_type_of(const Tensor& t, F&& f) {
  if (t.dtype == DType::bf16) return f(static_cast<Bf16*>(nullptr));
  expect(t.dtype == DType::f32, "the cpu backend computes on f32 and bf16");
  f(static_cast<float*>(nullptr));
}

/// Writes a bf16 tensor as f32, row after row.
void widen(const Tensor& from, float* to);
/// Rounds f32, row after row, into a bf16 tensor.
void narrow(const float* from, const Tensor& to);

}  // namespace cpplan::kernels::cpu
