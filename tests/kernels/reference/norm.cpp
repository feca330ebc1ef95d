#include <cmath>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {

void ReferenceOps::run(const RmsNorm& op) {
  const Index h = op.x.cols;
  for (Index i = 0; i < op.x.rows; ++i) {
    double squares = 0;
    for (Index j = 0; j < h; ++j) squares += at(op.x, i, j) * at(op.x, i, j);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(h) + op.epsilon);
    for (Index j = 0; j < h; ++j) at(op.y, i, j) = at(op.x, i, j) * rstd * at(op.weight, 0, j);
    at(op.rstd, i, 0) = rstd;
  }
}

/// y_j = x_j r w_j with r = mean(x^2)^(-1/2), so dr/dx_j = -r^3 x_j / h.
void ReferenceOps::run(const RmsNormBackward& op) {
  const Index h = op.x.cols;
  for (Index i = 0; i < op.x.rows; ++i) {
    const double rstd = at(op.rstd, i, 0);
    double drstd = 0;
    for (Index j = 0; j < h; ++j) drstd += at(op.dy, i, j) * at(op.weight, 0, j) * at(op.x, i, j);
    for (Index j = 0; j < h; ++j) {
      const double through_rstd =
          -drstd * rstd * rstd * rstd * at(op.x, i, j) / static_cast<double>(h);
      at(op.dx, i, j) += at(op.dy, i, j) * at(op.weight, 0, j) * rstd + through_rstd;
      at(op.dweight, 0, j) += at(op.dy, i, j) * at(op.x, i, j) * rstd;
    }
  }
}

}  // namespace cpplan::kernels::reference
