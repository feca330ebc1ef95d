#include <cmath>

#include "kernels/adamw_update.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

template <class T>
CPPLAN_VECTORISED double row_squares(const T* x, Index n) {
  double s = 0;
#pragma omp simd reduction(+ : s)
  for (Index j = 0; j < n; ++j) s += static_cast<double>(x[j]) * static_cast<double>(x[j]);
  return s;
}

CPPLAN_VECTORISED void update_row(const AdamWUpdate& u, const float* grad, Index n, float* p,
                                  float* m, float* v) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) {
    const float g = grad[j] * u.grad_scale;
    m[j] = u.beta1 * m[j] + u.one_minus_beta1 * g;
    v[j] = u.beta2 * v[j] + u.one_minus_beta2 * g * g;
    const float step =
        m[j] * u.first_correction / (std::sqrt(v[j] * u.second_correction) + u.epsilon);
    p[j] -= u.learning_rate * (step + u.weight_decay * p[j]);
  }
}

}  // namespace

void CpuOps::run(const SquaredNorm& op) {
  double s = 0;
  with_real_type_of(op.x, [&]<class T>(T*) {
    for (Index i = 0; i < op.x.rows; ++i) s += row_squares<T>(op.x.row<T>(i), op.x.cols);
  });
  *op.out.as<double>() = s;
}

void CpuOps::run(const AdamW& op) {
  expect_f32(op.p);
  const AdamWUpdate update(op);
  for (Index i = 0; i < op.p.rows; ++i) {
    update_row(update, op.g.row<float>(i), op.p.cols, op.p.row<float>(i), op.m.row<float>(i),
               op.v.row<float>(i));
    if (op.has_rounded()) run(Copy{op.p.row_range(i, 1), op.rounded.row_range(i, 1)});
  }
}

}  // namespace cpplan::kernels::cpu
