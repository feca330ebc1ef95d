#pragma once
// Gradients by central differences, on the fp64 reference.
#include <functional>

#include "kernels/support/matrix.hpp"

namespace cpplan::kernels::test {

/// d loss / d x for every element: (f(x + h) - f(x - h)) / 2h, h = 1e-5. The error of the formula
/// is h^2 |f'''| / 6 and that of the subtraction 1e-16 |f| / h, so 1e-8 is what to ask of it.
inline Matrix numeric_gradient(const std::function<double(const Matrix&)>& loss, Matrix x) {
  constexpr double h = 1e-5;
  Matrix gradient = x;
  for (std::size_t e = 0; e < x.values.size(); ++e) {
    const double at = x.values[e];
    x.values[e] = at + h;
    const double above = loss(x);
    x.values[e] = at - h;
    gradient.values[e] = (above - loss(x)) / (2 * h);
    x.values[e] = at;
  }
  return gradient;
}

/// sum of a * b: a loss whose gradient by `a` is b.
inline double inner_product(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.values.size(); ++e) sum += a.values[e] * b.values[e];
  return sum;
}

}  // namespace cpplan::kernels::test
