#pragma once
// An attention problem in memory of the device, with results that are poisoned or have begun.
#include <span>

#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/device_matrix.hpp"
#include "kernels/cuda/rounded_attention.hpp"

namespace cpplan::kernels::test {

class DeviceAttention {
 public:
  static constexpr double gradient_start = 0.5;  // gradients are added to

  explicit DeviceAttention(const AttentionProblem& problem, DType dtype = DType::bf16);

  void attend() { attend(problem_.blocks); }
  /// Some of the problem's blocks.
  void attend(std::span<const Block> blocks);
  /// With a part of the workspace that all heads need.
  void differentiate(cuda::GradientOrder order, double part = 1);

  /// Gradients without what they started from. Rows of no block hold what they held: NaN.
  AttentionResults results() const;

 private:
  const AttentionProblem problem_;
  const AttentionInputs inputs_;
  const DType dtype_;
  const double scale_;
  const cuda::Stream stream_;
  const DeviceMatrix q_, k_, v_, dout_;
  const DeviceMatrix out_, lse_, dq_, dk_, dv_;
};

/// Problems of more than one tile of each kernel, and no multiples of one: masks, heads, head
/// dimensions, packed documents, a ring step, stripes, dropout.
std::vector<AttentionProblem> device_problems();

AttentionProblem with_heads(AttentionProblem problem, Index heads, Index kv_heads, Index head_dim);

/// What rank 1 of three sees in a ring of head-tail chunks of 40 tokens: blocks with the same
/// queries stand together, keys come out of order.
AttentionProblem ring_problem();

}  // namespace cpplan::kernels::test
