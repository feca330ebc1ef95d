#pragma once
// The gradients of a step, from what each micro-batch adds on this rank to sums over all ranks that
// share a parameter. A unit is one transfer.
#include <vector>

#include "comm/communicator.hpp"
#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

class GradientReduction {
 public:
  GradientReduction(kernels::Ops&, const Groups&, const Job&, const ParameterStore&);

  /// Gradients are zero.
  void begin_step();
  /// Sums over DP x CP, and over TP where each rank saw a part of the tokens. Leaves each
  /// parameter's grad as the sum over the world, not divided by the number of tokens.
  void finish();

 private:
  comm::Work reduce(const ParameterUnit&) const;
  void sum_apart(const Parameter&) const;

  kernels::Ops& ops_;
  const Groups& groups_;
  Sharding sharding_;
  const ParameterStore& store_;
};

}  // namespace cpplan::engine
