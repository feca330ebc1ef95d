#pragma once
// AdamW over the parameters that a rank owns, in the accumulator type; the values that layers
// compute with follow.
#include <vector>

#include "comm/communicator.hpp"
#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

/// What multiplies the gradient of the loss sum: the mean over tokens, clipped as
/// torch.nn.utils.clip_grad_norm_ does. No clipping where `max_grad_norm` is 0.
double gradient_scale(double grad_norm, double tokens, double max_grad_norm);

class Optimizer {
 public:
  Optimizer(kernels::Ops&, const Groups&, const Job&, const ParameterStore&);

  /// Step `number` (from 1). Whole parameters of a sharded optimizer are gathered unit by unit
  /// while those that follow are updated, unless layers gather them when they need them.
  void update(Index number, double learning_rate, double gradient_scale);
  /// After values were set from outside: whole parameters follow their shards.
  void gather_whole();

 private:
  struct Step {
    Index number;
    double learning_rate, gradient_scale;
  };
  void update(const Parameter&, const Step&) const;
  /// Starts to gather a unit whose whole parameters are kept beside shards of them.
  void gather(const ParameterUnit&, std::vector<comm::Work>& gathers) const;

  kernels::Ops& ops_;
  const Groups& groups_;
  AdamWSettings settings_;
  bool gathers_;
  const ParameterStore& store_;
};

}  // namespace cpplan::engine
