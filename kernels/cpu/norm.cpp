#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// y = x rstd weight; returns rstd.
CPPLAN_VECTORISED float normalise_row(const float* x, const float* weight, float epsilon, Index h,
                                      float* y) {
  const float rstd = 1.0f / std::sqrt(dot(x, x, h) / static_cast<float>(h) + epsilon);
#pragma omp simd
  for (Index j = 0; j < h; ++j) y[j] = x[j] * rstd * weight[j];
  return rstd;
}

/// dx += rstd (dy weight - x s), s = rstd^2 mean(dy weight x); dweight += dy x rstd.
CPPLAN_VECTORISED void normalise_row_backward(const float* x, const float* weight, const float* dy,
                                              float rstd, Index h, float* dx, float* dweight) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (Index j = 0; j < h; ++j) s += dy[j] * weight[j] * x[j];
  s *= rstd * rstd / static_cast<float>(h);
#pragma omp simd
  for (Index j = 0; j < h; ++j) {
    dx[j] += rstd * (dy[j] * weight[j] - x[j] * s);
    dweight[j] += dy[j] * x[j] * rstd;
  }
}

/// Rows whose share of dweight is summed apart, so that the error of a long sum does not grow with
/// the number of tokens.
constexpr Index rows_a_chunk = 64;

}  // namespace

void CpuOps::run(const RmsNorm& op) {
  expect_f32(op.x);
  for (Index i = 0; i < op.x.rows; ++i)
    *op.rstd.row<float>(i) =
        normalise_row(op.x.row<float>(i), op.weight.as<float>(), static_cast<float>(op.epsilon),
                      op.x.cols, op.y.row<float>(i));
}

void CpuOps::run(const RmsNormBackward& op) {
  expect_f32(op.x);
  const Index h = op.x.cols;
  float* const chunk = scratch(h);
  for (Index first = 0; first < op.x.rows; first += rows_a_chunk) {
    std::fill_n(chunk, h, 0.0f);
    for (Index i = first; i < std::min(first + rows_a_chunk, op.x.rows); ++i)
      normalise_row_backward(op.x.row<float>(i), op.weight.as<float>(), op.dy.row<float>(i),
                             *op.rstd.row<float>(i), h, op.dx.row<float>(i), chunk);
    for (Index j = 0; j < h; ++j) op.dweight.as<float>()[j] += chunk[j];
  }
}

}  // namespace cpplan::kernels::cpu
