#include <cmath>
#include <vector>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

void turn(double& a, double& b, double angle) {
  const double c = std::cos(angle), s = std::sin(angle), first = a;
  a = first * c - b * s;
  b = first * s + b * c;
}

}  // namespace

void ReferenceOps::run(const Rope& op) {
  const Index d = op.head_dim, half = d / 2;
  for (Index j = 0; j < half; ++j) {
    const double frequency =
        std::pow(op.theta, -2 * static_cast<double>(j) / static_cast<double>(d));
    for (Index i = 0; i < op.x.rows; ++i) {
      const double angle = static_cast<double>(index_at(op.positions, i)) * frequency;
      for (Index head = 0; head < op.x.cols; head += d)
        turn(at(op.x, i, head + j), at(op.x, i, head + half + j), op.inverse ? -angle : angle);
    }
  }
}

}  // namespace cpplan::kernels::reference
