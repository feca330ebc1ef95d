#pragma once
// What is moved, filled and added. Of one type, contiguous values are moved by the copy engine.
#include <type_traits>

#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

template <class T>
struct FillGroup {
  View<T> x;
  Wide<T> value;

  __device__ void operator()(Index i, Index j, Index left) const {
    Wide<T> values[group];
    for (int n = 0; n < group; ++n) values[n] = value;
    store(values, left, x.row(i) + j);
  }
};

template <class X, class Y>
struct CopyGroup {
  View<const X> x;
  View<Y> y;

  __device__ void operator()(Index i, Index j, Index left) const {
    Wide<X> values[group];
    load(x.row(i) + j, left, values);
    store(values, left, y.row(i) + j);
  }
};

template <class X, class Y>
struct AddGroup {
  View<const X> x;
  View<Y> y;

  __device__ void operator()(Index i, Index j, Index left) const {
    Wide<X> summand[group];
    Wide<Y> sum[group];
    load(x.row(i) + j, left, summand);
    load(y.row(i) + j, left, sum);
    for (int n = 0; n < group; ++n) sum[n] += summand[n];
    store(sum, left, y.row(i) + j);
  }
};

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

template <class T>
inline constexpr bool is_index = std::is_same_v<T, std::int32_t>;

inline void CudaOps::run(const Fill& op) {
  const Extent extent = flattened(op.x);
  with_type_of(op.x, [&]<class T>(T*) {
    each_group<group>(stream_, extent.rows, extent.cols,
                      FillGroup<T>{output<T>(op.x), static_cast<Wide<T>>(op.value)});
  });
}

inline void CudaOps::run(const Copy& op) {
  if (op.x.dtype == op.y.dtype && op.x.contiguous() && op.y.contiguous()) {
    if (op.x.elements() > 0) copy_on_device(op.y.data, op.x.data, op.x.bytes(), stream_);
    return;
  }
  const Extent extent = flattened(op.x, op.y);
  with_type_of(op.x, [&]<class X>(X*) {
    with_type_of(op.y, [&]<class Y>(Y*) {
      if constexpr (is_index<X> == is_index<Y>)
        each_group<group>(stream_, extent.rows, extent.cols,
                          CopyGroup<X, Y>{input<X>(op.x), output<Y>(op.y)});
    });
  });
}

inline void CudaOps::run(const Add& op) {
  const Extent extent = flattened(op.x, op.y);
  const auto add = [&]<class X, class Y>(X*, Y*) {
    each_group<group>(stream_, extent.rows, extent.cols,
                      AddGroup<X, Y>{input<X>(op.x), output<Y>(op.y)});
  };
  if (op.x.dtype != op.y.dtype)
    return add(static_cast<Bf16*>(nullptr), static_cast<float*>(nullptr));
  with_type_of(op.x, [&]<class T>(T* type) { add(type, type); });
}

}  // namespace cpplan::kernels::cuda
