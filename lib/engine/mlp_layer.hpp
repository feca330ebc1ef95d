#pragma once
// SwiGLU MLP with its norm, residual and dropout. Features are split over TP.
#include "engine/residual_branch.hpp"

namespace cpplan::engine {

class MlpLayer {
 public:
  struct Saved {
    ResidualBranch::Saved branch;
    Tensor gate_up;  // [rows, 2 f / tp]
    Tensor product;  // [rows, f / tp]; empty where it is computed again
  };

  MlpLayer(const Job&, const TensorParallel&, const LayerTensors&, Index layer,
           const ParameterStore&);

  void forward(Step&, Tensor x, Tensor y, Saved&) const;
  void backward(Step&, Tensor grad, Saved&) const;

 private:
  Tensor multiply(Step&, kernels::Arena&, const Saved&) const;
  void expand_backward(Step&, Tensor dgate_up, Tensor x, Tensor dx) const;

  Weight norm_, gate_, up_, down_;
  ResidualBranch branch_;
  bool product_again_;
};
static_assert(Layer<MlpLayer>);

}  // namespace cpplan::engine
