#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

/// What the branch's element [i, j] is multiplied by.
double factor(const Dropout& d, const Tensor& rows, Index i, Index j) {
  if (d.rate == 0) return 1;
  const Index index = index_at(rows, i, 0), sample = index_at(rows, i, 1);
  if (index == -1) return 0;
  const PhiloxCounter words = hidden_words(d, j, index, d.first_sample + sample);
  return dropout_lane(words, j) >= d.threshold() ? d.scale() : 0;
}

}  // namespace

void ReferenceOps::run(const DropoutAdd& op) {
  for (Index i = 0; i < op.x.rows; ++i)
    for (Index j = 0; j < op.x.cols; ++j) {
      const double f = factor(op.dropout, op.rows, i, j);
      at(op.y, i, j) = at(op.x, i, j) + (f == 0 ? 0 : f * at(op.branch, i, j));
    }
}

void ReferenceOps::run(const DropoutBackward& op) {
  for (Index i = 0; i < op.dy.rows; ++i)
    for (Index j = 0; j < op.dy.cols; ++j) {
      const double f = factor(op.dropout, op.rows, i, j);
      at(op.dbranch, i, j) = f == 0 ? 0 : f * at(op.dy, i, j);
    }
}

}  // namespace cpplan::kernels::reference
