#include <cmath>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {

void ReferenceOps::run(const SquaredNorm& op) {
  double sum = 0;
  for (Index i = 0; i < op.x.rows; ++i)
    for (Index j = 0; j < op.x.cols; ++j) sum += at(op.x, i, j) * at(op.x, i, j);
  at(op.out, 0, 0) = sum;
}

void ReferenceOps::run(const AdamW& op) {
  const auto step = static_cast<double>(op.step);
  for (Index i = 0; i < op.p.rows; ++i)
    for (Index j = 0; j < op.p.cols; ++j) {
      const double g = at(op.g, i, j) * op.grad_scale;
      double &p = at(op.p, i, j), &m = at(op.m, i, j), &v = at(op.v, i, j);
      m = op.beta1 * m + (1 - op.beta1) * g;
      v = op.beta2 * v + (1 - op.beta2) * g * g;
      const double m_hat = m / (1 - std::pow(op.beta1, step));
      const double v_hat = v / (1 - std::pow(op.beta2, step));
      p -= op.learning_rate * (m_hat / (std::sqrt(v_hat) + op.epsilon) + op.weight_decay * p);
      if (op.has_rounded()) at(op.rounded, i, j) = p;
    }
}

}  // namespace cpplan::kernels::reference
