#include "comm/reduce.hpp"

#include "kernels/bf16.hpp"

namespace cpplan::comm {
namespace {

struct Sum {
  template <class T>
  auto operator()(T a, T b) const {
    return a + b;  // of bf16: in f32, rounded as it is stored
  }
};

/// A NaN is kept, whichever side it comes from.
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

template <class T, class Op>
void reduce_rows(const Tensor& into, const Tensor& received, const Tensor& own, Op op) {
  for (Index i = 0; i < into.rows; ++i) {
    T* to = into.row<T>(i);
    const T* a = received.row<T>(i);
    const T* b = own.row<T>(i);
    for (Index j = 0; j < into.cols; ++j) to[j] = op(a[j], b[j]);
  }
}

template <class T>
void reduce_as(const Tensor& into, const Tensor& received, const Tensor& own, Reduce reduce) {
  if (reduce == Reduce::sum) return reduce_rows<T>(into, received, own, Sum{});
  reduce_rows<T>(into, received, own, Max{});
}

}  // namespace

void reduce_into(const Tensor& into, const Tensor& received, const Tensor& own, Reduce reduce) {
  expect(same_shape(into, received) && same_shape(into, own), "a reduction is of equal shapes");
  switch (into.dtype) {
    case kernels::DType::i32:
      return reduce_as<std::int32_t>(into, received, own, reduce);
    case kernels::DType::f32:
      return reduce_as<float>(into, received, own, reduce);
    case kernels::DType::f64:
      return reduce_as<double>(into, received, own, reduce);
    case kernels::DType::bf16:
      return reduce_as<kernels::Bf16>(into, received, own, reduce);
  }
}

}  // namespace cpplan::comm
