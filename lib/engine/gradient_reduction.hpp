#pragma once
// The gradients of a step, from what each micro-batch adds on this rank to sums over all ranks that
// share a parameter. A unit is one transfer. Where ranks keep shards of the gradients, whole ones
// live in the buffer of their lane while a micro-batch goes backward through their unit, and are
// scattered after it; elsewhere micro-batches add up first.
#include <array>
#include <vector>

#include "comm/communicator.hpp"
#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

/// Whether later micro-batches of the step add to the gradients.
enum class Accumulation : std::uint8_t { more, complete };

class GradientReduction {
 public:
  GradientReduction(kernels::Ops&, const Groups&, const Job&, const ParameterStore&);

  /// Gradients are zero.
  void begin_step();
  /// Before layers add to the gradients of `unit`.
  void open(std::size_t unit);
  /// After they have, in one micro-batch. Returns before a transfer that overlaps is done.
  void close(std::size_t unit, Accumulation);
  /// Leaves each parameter's grad as the sum over the world, not divided by the number of tokens.
  void finish();

 private:
  enum class State : std::uint8_t { closed, open, sent };
  static constexpr std::size_t none = ~std::size_t{0};

  void start(std::size_t unit);
  void land();
  void sum_over_replicas();
  void sum_apart(const Parameter&) const;
  kernels::Tensor own_row(const ParameterUnit&) const;

  kernels::Ops& ops_;
  const Groups& groups_;
  DataParallelSettings settings_;
  const ParameterStore& store_;
  bool in_lanes_;  // whole gradients take turns in the buffers of lanes
  std::vector<State> states_;
  /// One unit at a time: it has the link to itself, and a transport's buffers stay small.
  std::size_t travelling_ = none;
  comm::Work transfer_;
  std::array<std::size_t, lane_count> holders_;  // the unit whose gradients lie in a lane
};

}  // namespace cpplan::engine
