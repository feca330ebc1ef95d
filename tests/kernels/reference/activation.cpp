#include <cmath>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

void ReferenceOps::run(const SwiGlu& op) {
  const Index f = op.y.cols;
  for (Index i = 0; i < op.y.rows; ++i)
    for (Index j = 0; j < f; ++j) {
      const double gate = at(op.gate_up, i, j), up = at(op.gate_up, i, f + j);
      at(op.y, i, j) = gate * sigmoid(gate) * up;
    }
}

void ReferenceOps::run(const SwiGluBackward& op) {
  const Index f = op.dy.cols;
  for (Index i = 0; i < op.dy.rows; ++i)
    for (Index j = 0; j < f; ++j) {
      const double gate = at(op.gate_up, i, j), up = at(op.gate_up, i, f + j), dy = at(op.dy, i, j);
      const double s = sigmoid(gate);
      at(op.dgate_up, i, j) = dy * up * (s + gate * s * (1 - s));
      at(op.dgate_up, i, f + j) = dy * gate * s;
    }
}

}  // namespace cpplan::kernels::reference
