#include <algorithm>
#include <vector>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

/// op(t) as a dense array, so that the product has one loop for all four cases.
std::vector<double> dense(const Tensor& t, bool transpose) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(t.elements()));
  const Index rows = transpose ? t.cols : t.rows, cols = transpose ? t.rows : t.cols;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) values.push_back(transpose ? at(t, j, i) : at(t, i, j));
  return values;
}

/// c[0 ... n - 1] += a b[0 ... n - 1].
void add_multiple(double a, const double* b, Index n, double* c) {
  for (Index j = 0; j < n; ++j) c[j] += a * b[j];
}

}  // namespace

void ReferenceOps::run(const Gemm& op) {
  const std::vector<double> a = dense(op.a, op.transpose_a), b = dense(op.b, op.transpose_b);
  const Index m = op.c.rows, n = op.c.cols, k = op.k();
  std::vector<double> row(static_cast<std::size_t>(n));
  for (Index i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (Index l = 0; l < k; ++l) add_multiple(a[i * k + l], b.data() + l * n, n, row.data());
    for (Index j = 0; j < n; ++j) at(op.c, i, j) = (op.accumulate ? at(op.c, i, j) : 0) + row[j];
  }
}

}  // namespace cpplan::kernels::reference
