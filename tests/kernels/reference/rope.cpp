#include <cmath>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

void turn(double& a, double& b, double angle, double magnitude) {
  const double c = magnitude * std::cos(angle), s = magnitude * std::sin(angle), first = a;
  a = first * c - b * s;
  b = first * s + b * c;
}

}  // namespace

void ReferenceOps::run(const Rope& op) {
  const Index half = std::ssize(op.frequencies);
  for (Index j = 0; j < half; ++j) {
    const double frequency = op.frequencies[static_cast<std::size_t>(j)];
    for (Index i = 0; i < op.x.rows; ++i) {
      const double angle = static_cast<double>(index_at(op.positions, i)) * frequency;
      for (Index head = 0; head < op.x.cols; head += 2 * half)
        turn(at(op.x, i, head + j), at(op.x, i, head + half + j), op.inverse ? -angle : angle,
             op.magnitude);
    }
  }
}

}  // namespace cpplan::kernels::reference
