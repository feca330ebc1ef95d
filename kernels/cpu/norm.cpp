#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// y = x rstd weight; returns rstd.
template <class T>
CPPLAN_VECTORISED float normalise_row(const T* x, const T* weight, float epsilon, Index h, T* y) {
  const float rstd = 1.0f / std::sqrt(dot(x, x, h) / static_cast<float>(h) + epsilon);
#pragma omp simd
  for (Index j = 0; j < h; ++j) y[j] = x[j] * rstd * weight[j];
  return rstd;
}

/// dx += rstd (dy weight - x s), s = rstd^2 mean(dy weight x); dweight += dy x rstd.
template <class T>
CPPLAN_VECTORISED void normalise_row_backward(const T* x, const T* weight, const T* dy, float rstd,
                                              Index h, T* dx, float* dweight) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (Index j = 0; j < h; ++j) s += dy[j] * weight[j] * x[j];
  s *= rstd * rstd / static_cast<float>(h);
#pragma omp simd
  for (Index j = 0; j < h; ++j) {
    dx[j] = dx[j] + rstd * (dy[j] * weight[j] - x[j] * s);
    dweight[j] += dy[j] * x[j] * rstd;
  }
}

/// Rows whose share of dweight is summed apart, so that the error of a long sum does not grow with
/// the number of tokens.
constexpr Index rows_a_chunk = 64;

}  // namespace

void CpuOps::run(const RmsNorm& op) {
  const auto epsilon = static_cast<float>(op.epsilon);
  with_real_type_of(op.x, [&]<class T>(T*) {
    const T* const weight = op.weight.as<T>();
    for (Index i = 0; i < op.x.rows; ++i)
      *op.rstd.row<float>(i) =
          normalise_row<T>(op.x.row<T>(i), weight, epsilon, op.x.cols, op.y.row<T>(i));
  });
}

void CpuOps::run(const RmsNormBackward& op) {
  const Index h = op.x.cols;
  float* const chunk = scratch(h);
  with_real_type_of(op.x, [&]<class T>(T*) {
    for (Index first = 0; first < op.x.rows; first += rows_a_chunk) {
      std::fill_n(chunk, h, 0.0f);
      for (Index i = first; i < std::min(first + rows_a_chunk, op.x.rows); ++i)
        normalise_row_backward<T>(op.x.row<T>(i), op.weight.as<T>(), op.dy.row<T>(i),
                                  *op.rstd.row<float>(i), h, op.dx.row<T>(i), chunk);
      for (Index j = 0; j < h; ++j) op.dweight.as<float>()[j] += chunk[j];
    }
  });
}

}  // namespace cpplan::kernels::cpu
