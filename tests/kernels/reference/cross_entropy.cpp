#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

bool labelled(const Tensor& labels, Index i) {
  return index_at(labels, i) >= 0;
}

/// Whether column j of this rank is the label of row i.
bool is_label(const Tensor& labels, Index i, Index first_col, Index j) {
  return labelled(labels, i) && index_at(labels, i) == first_col + j;
}

}  // namespace

void ReferenceOps::run(const RowMax& op) {
  for (Index i = 0; i < op.logits.rows; ++i) {
    double max = -std::numeric_limits<double>::infinity();
    for (Index j = 0; j < op.valid_cols; ++j) max = std::max(max, at(op.logits, i, j));
    at(op.max, i, 0) = max;
  }
}

void ReferenceOps::run(const SumExp& op) {
  for (Index i = 0; i < op.logits.rows; ++i) {
    double sum = 0, of_label = 0;
    for (Index j = 0; j < op.valid_cols; ++j) {
      sum += std::exp(at(op.logits, i, j) - at(op.max, i, 0));
      if (is_label(op.labels, i, op.first_col, j)) of_label = at(op.logits, i, j);
    }
    at(op.stats, i, 0) = sum;
    at(op.stats, i, 1) = of_label;
  }
}

void ReferenceOps::run(const LossSum& op) {
  for (Index i = 0; i < op.max.rows; ++i) {
    if (!labelled(op.labels, i)) continue;
    at(op.sum, 0, 0) += at(op.max, i, 0) + std::log(at(op.stats, i, 0)) - at(op.stats, i, 1);
    at(op.sum, 0, 1) += 1;
  }
}

void ReferenceOps::run(const CrossEntropyBackward& op) {
  for (Index i = 0; i < op.logits.rows; ++i)
    for (Index j = 0; j < op.logits.cols; ++j) {
      double& x = at(op.logits, i, j);
      if (j >= op.valid_cols || !labelled(op.labels, i))
        x = 0;
      else
        x = std::exp(x - at(op.max, i, 0)) / at(op.stats, i, 0) -
            (is_label(op.labels, i, op.first_col, j) ? 1 : 0);
    }
}

}  // namespace cpplan::kernels::reference
