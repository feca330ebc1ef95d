#pragma once
// SwiGLU MLP with its norm, residual and dropout. Features are split over TP.
#include "engine/residual_branch.hpp"

namespace cpplan::engine {

class MlpLayer {
 public:
  struct Saved {
    ResidualBranch::Saved branch;
    Tensor gate_up;  // [rows, 2 f / tp]
    Tensor product;  // [rows, f / tp]
  };

  MlpLayer(const Job&, const TensorParallel&, const LayerTensors&, Index layer, ParameterStore&);

  void forward(Step&, Tensor x, Tensor y, Saved&) const;
  void backward(Step&, Tensor grad, Saved&) const;

 private:
  void expand_backward(Step&, Tensor dgate_up, Tensor x, Tensor dx) const;

  Weight norm_, gate_, up_, down_;
  ResidualBranch branch_;
};
static_assert(Layer<MlpLayer>);

}  // namespace cpplan::engine
