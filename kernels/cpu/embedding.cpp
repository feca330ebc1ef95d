#include <algorithm>

#include "kernels/cpu/cpu_backend.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// The row of this rank's shard that holds token i, or nullptr where it is another rank's.
float* row_of_token(const Tensor& tokens, Index i, const Tensor& weight, Index first_row) {
  const Index row = *tokens.row<std::int32_t>(i) - first_row;
  return row >= 0 && row < weight.rows ? weight.row<float>(row) : nullptr;
}

}  // namespace

void CpuOps::run(const Embed& op) {
  expect_f32(op.y);
  for (Index i = 0; i < op.y.rows; ++i) {
    if (const float* const row = row_of_token(op.tokens, i, op.weight, op.first_row))
      std::copy_n(row, op.y.cols, op.y.row<float>(i));
    else
      std::fill_n(op.y.row<float>(i), op.y.cols, 0.0f);
  }
}

void CpuOps::run(const EmbedBackward& op) {
  expect_f32(op.dy, op.dweight);
  for (Index i = 0; i < op.dy.rows; ++i) {
    float* const row = row_of_token(op.tokens, i, op.dweight, op.first_row);
    if (!row) continue;
    const float* const dy = op.dy.row<float>(i);
    for (Index j = 0; j < op.dy.cols; ++j) row[j] += dy[j];
  }
}

}  // namespace cpplan::kernels::cpu
