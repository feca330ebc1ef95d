#pragma once
// Self-attention with its norm, residual and dropout. Heads are split over TP, tokens over CP.
#include "engine/parallel_attention.hpp"
#include "engine/residual_branch.hpp"
#include "engine/rotation.hpp"

namespace cpplan::engine {

class AttentionLayer {
 public:
  struct Saved {
    ResidualBranch::Saved branch;
    ParallelAttention::Saved attention;
  };

  AttentionLayer(const Job&, const TensorParallel&, const LayerTensors&, Index layer,
                 const ParameterStore&);

  void forward(Step&, Tensor x, Tensor y, Saved&) const;
  void backward(Step&, Tensor grad, Saved&) const;

 private:
  void project(Step&, Tensor x, const ParallelAttention::Inputs&) const;
  void rotate(Step&, Tensor q, Tensor k, bool inverse) const;
  void project_backward(Step&, const ParallelAttention::Inputs& gradients, Tensor x,
                        Tensor dx) const;
  AttentionSettings settings(const Step&) const;

  Weight norm_, q_, k_, v_, o_;
  ResidualBranch branch_;
  ParallelAttention attention_;
  Index head_dim_, layer_;
  kernels::Band band_;
  Rotation rotation_;
  double dropout_rate_;
  std::uint64_t dropout_key_;
};
static_assert(Layer<AttentionLayer>);

}  // namespace cpplan::engine
