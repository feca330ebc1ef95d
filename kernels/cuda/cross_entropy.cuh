#pragma once
// Cross-entropy over a vocabulary that may be split over ranks: a block a row of logits, whose
// maximum and sum of exponentials the ranks share in between.
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

/// Which columns of the vocabulary are here, and how many hold tokens.
struct VocabularyPart {
  Index first_col, valid_cols;

  /// The label's column among these, or -1.
  __device__ Index column_of(std::int32_t label) const {
    const Index column = label - first_col;
    return label >= 0 && column >= 0 && column < valid_cols ? column : -1;
  }
};

static __global__ void row_max(View<const float> logits, View<float> max, Index valid_cols) {
  const Index i = block_x();
  float greatest = -INFINITY;
  own_groups(valid_cols, [&](Index j, Index left) {
    float x[group];
    load(logits.row(i) + j, left, x);
    for (int n = 0; n < group; ++n)
      if (n < left) greatest = fmaxf(greatest, x[n]);
  });
  greatest =
      together(greatest, dynamic_shared<float>(), [](float a, float b) { return fmaxf(a, b); });
  if (thread() == 0) *max.row(i) = greatest;
}

static __global__ void sum_exp(View<const float> logits, View<const float> max,
                               View<const std::int32_t> labels, View<float> stats,
                               VocabularyPart part) {
  const Index i = block_x();
  const float greatest = *max.row(i);
  float sum = 0;
  own_groups(part.valid_cols, [&](Index j, Index left) {
    float x[group];
    load(logits.row(i) + j, left, x);
    for (int n = 0; n < group; ++n)
      if (n < left) sum += expf(x[n] - greatest);
  });
  sum = block_sum(sum, dynamic_shared<float>());
  if (thread() != 0) return;
  const Index column = part.column_of(*labels.row(i));
  stats.row(i)[0] = sum;
  stats.row(i)[1] = column >= 0 ? logits.row(i)[column] : 0.0f;
}

/// One block, which takes the rows in turn: few bytes, and a sum in a fixed order.
static __global__ void loss_sum(View<const float> max, View<const float> stats,
                                View<const std::int32_t> labels, Index rows, double* sum) {
  double loss = 0, labelled = 0;
  for (Index i = thread(); i < rows; i += threads()) {
    if (*labels.row(i) < 0) continue;
    const float* const s = stats.row(i);
    loss += static_cast<double>(*max.row(i)) + log(static_cast<double>(s[0])) -
            static_cast<double>(s[1]);
    labelled += 1;
  }
  loss = block_sum(loss, dynamic_shared<double>());
  labelled = block_sum(labelled, dynamic_shared<double>());
  if (thread() != 0) return;
  sum[0] += loss;
  sum[1] += labelled;
}

struct CrossEntropyGroup {
  View<float> logits;
  View<const float> max, stats;
  View<const std::int32_t> labels;
  VocabularyPart part;

  __device__ void operator()(Index i, Index j, Index left) const {
    const std::int32_t label = *labels.row(i);
    const Index column = part.column_of(label), live = label >= 0 ? part.valid_cols : 0;
    const float greatest = *max.row(i), inverse = 1.0f / stats.row(i)[0];
    float x[group];
    load(logits.row(i) + j, left, x);
    for (int n = 0; n < group; ++n) {
      x[n] = j + n < live ? expf(x[n] - greatest) * inverse : 0.0f;
      if (j + n == column) x[n] -= 1.0f;
    }
    store(x, left, logits.row(i) + j);
  }
};

inline void CudaOps::run(const RowMax& op) {
  expect(op.logits.dtype == DType::f32, "logits of the cuda backend are f32");
  if (op.logits.rows == 0) return;
  launch(row_max, row_launch(op.logits.rows, op.valid_cols), stream_, input<float>(op.logits),
         output<float>(op.max), op.valid_cols);
}

inline void CudaOps::run(const SumExp& op) {
  expect(op.logits.dtype == DType::f32, "logits of the cuda backend are f32");
  if (op.logits.rows == 0) return;
  launch(sum_exp, row_launch(op.logits.rows, op.valid_cols), stream_, input<float>(op.logits),
         input<float>(op.max), input<std::int32_t>(op.labels), output<float>(op.stats),
         VocabularyPart{op.first_col, op.valid_cols});
}

inline void CudaOps::run(const LossSum& op) {
  expect(op.max.dtype == DType::f32, "logits of the cuda backend are f32");
  launch(loss_sum, row_launch(1, op.max.rows * group), stream_, input<float>(op.max),
         input<float>(op.stats), input<std::int32_t>(op.labels), op.max.rows, op.sum.as<double>());
}

inline void CudaOps::run(const CrossEntropyBackward& op) {
  expect(op.logits.dtype == DType::f32, "logits of the cuda backend are f32");
  each_group<group>(stream_, op.logits.rows, op.logits.cols,
                    CrossEntropyGroup{output<float>(op.logits),
                                      input<float>(op.max),
                                      input<float>(op.stats),
                                      input<std::int32_t>(op.labels),
                                      {op.first_col, op.valid_cols}});
}

}  // namespace cpplan::kernels::cuda
