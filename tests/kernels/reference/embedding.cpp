#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {

void ReferenceOps::run(const Embed& op) {
  for (Index i = 0; i < op.y.rows; ++i) {
    const Index row = index_at(op.tokens, i) - op.first_row;
    const bool here = row >= 0 && row < op.weight.rows;
    for (Index j = 0; j < op.y.cols; ++j) at(op.y, i, j) = here ? at(op.weight, row, j) : 0;
  }
}

void ReferenceOps::run(const EmbedBackward& op) {
  for (Index i = 0; i < op.dy.rows; ++i) {
    const Index row = index_at(op.tokens, i) - op.first_row;
    if (row < 0 || row >= op.dweight.rows) continue;
    for (Index j = 0; j < op.dy.cols; ++j) at(op.dweight, row, j) += at(op.dy, i, j);
  }
}

}  // namespace cpplan::kernels::reference
