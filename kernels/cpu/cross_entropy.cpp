#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

CPPLAN_VECTORISED float row_max(const float* logits, Index n) {
  return greatest(logits, n);
}

CPPLAN_VECTORISED float row_sum_exp(const float* logits, float max, Index n) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (Index j = 0; j < n; ++j) s += fast_exp(logits[j] - max);
  return s;
}

CPPLAN_VECTORISED void row_softmax(float* logits, float max, float sum, Index n) {
  const float inverse = 1.0f / sum;
#pragma omp simd
  for (Index j = 0; j < n; ++j) logits[j] = fast_exp(logits[j] - max) * inverse;
}

std::int32_t label_of(const Tensor& labels, Index i) {
  return *labels.row<std::int32_t>(i);
}

/// The label's column among this rank's, or -1.
Index label_column(const Tensor& labels, Index i, Index first_col, Index valid_cols) {
  const Index label = label_of(labels, i), column = label - first_col;
  return label >= 0 && column >= 0 && column < valid_cols ? column : -1;
}

}  // namespace

void CpuOps::run(const RowMax& op) {
  expect_f32(op.logits);
  for (Index i = 0; i < op.logits.rows; ++i)
    *op.max.row<float>(i) = row_max(op.logits.row<float>(i), op.valid_cols);
}

void CpuOps::run(const SumExp& op) {
  expect_f32(op.logits);
  for (Index i = 0; i < op.logits.rows; ++i) {
    const float* const logits = op.logits.row<float>(i);
    const Index column = label_column(op.labels, i, op.first_col, op.valid_cols);
    float* const stats = op.stats.row<float>(i);
    stats[0] = row_sum_exp(logits, *op.max.row<float>(i), op.valid_cols);
    stats[1] = column >= 0 ? logits[column] : 0.0f;
  }
}

void CpuOps::run(const LossSum& op) {
  expect_f32(op.max, op.stats);
  double loss = 0, labelled = 0;
  for (Index i = 0; i < op.max.rows; ++i) {
    if (label_of(op.labels, i) < 0) continue;
    const float* const stats = op.stats.row<float>(i);
    loss += static_cast<double>(*op.max.row<float>(i)) + std::log(static_cast<double>(stats[0])) -
            static_cast<double>(stats[1]);
    labelled += 1;
  }
  op.sum.as<double>()[0] += loss;
  op.sum.as<double>()[1] += labelled;
}

void CpuOps::run(const CrossEntropyBackward& op) {
  expect_f32(op.logits);
  for (Index i = 0; i < op.logits.rows; ++i) {
    float* const logits = op.logits.row<float>(i);
    const bool labelled = label_of(op.labels, i) >= 0;
    const Index live = labelled ? op.valid_cols : 0;
    if (labelled)
      row_softmax(logits, *op.max.row<float>(i), *op.stats.row<float>(i), op.valid_cols);
    std::fill(logits + live, logits + op.logits.cols, 0.0f);
    const Index column = label_column(op.labels, i, op.first_col, op.valid_cols);
    if (column >= 0) logits[column] -= 1.0f;
  }
}

}  // namespace cpplan::kernels::cpu
