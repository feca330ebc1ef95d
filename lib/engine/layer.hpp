#pragma once
// Forward and backward by hand. A layer says in `Saved` what its backward needs; outputs belong to
// the caller, temporaries to a Scope of step.scratch, and what is saved to step.saved, the arena of
// the micro-batch. So memory is a stack, and the same code gives the plan its peak (meta) and the
// run its result.
#include <concepts>

#include "comm/communicator.hpp"
#include "engine/job.hpp"
#include "kernels/arena.hpp"
#include "kernels/backend.hpp"
#include "layout/sequence_map.hpp"

namespace cpplan::engine {
using kernels::Tensor;

/// Activations and gradients travel between stages on a communicator each: both ends then agree on
/// the order without tags.
struct Groups {
  comm::Communicator &tp, &cp;
  comm::Communicator &cp_inner, &cp_outer;  // neighbours that exchange heads, and their ring
  comm::Communicator &pp_forward, &pp_backward;
  comm::Communicator& dp_cp;                       // CP fastest
  comm::Communicator &dp_shard_cp, &dp_replicate;  // who cut a copy of the state; who copy a part
  comm::Communicator &tp_kv, &embedding;  // who hold the same KV heads; the same tied table
  comm::Communicator& world;
};

/// One micro-batch as this rank sees it; everything that has a sequence axis comes from the map.
struct Batch {
  const layout::SequenceMap& map;
  Tensor tokens, labels, positions;  // i32 [rows, 1]
  Tensor rows;                       // i32 [rows, 2]: index in the sample (-1: padding), sample
  std::uint32_t first_sample;        // global number of sample 0
};

/// Where in a step a rank is, for those who ask what it held there. Numbers count from 0.
struct Position {
  enum class Part : std::uint8_t { forward, loss, backward, update };
  static constexpr Index embedding = -1;

  Part part = Part::update;
  Index layer = embedding;  // of the model, in forward and backward
  int micro_batch = 0;
};

struct Step {
  kernels::Ops& ops;
  const Groups& groups;
  const Batch& batch;
  kernels::Arena& saved;
  kernels::Arena& scratch;
  kernels::Arena& rebuilt;  // what a layer that is run again saves; one layer at a time

  Position* position = nullptr;
  WeightGradients weight_gradients = WeightGradients::in_place;

  /// The same step, saving where nothing is kept.
  Step rebuilding() const {
    return {ops, groups, batch, rebuilt, scratch, rebuilt, position, weight_gradients};
  }
  void enter(Position::Part part, Index layer) const {
    if (position != nullptr) position->part = part, position->layer = layer;
  }
};

/// forward: y = f(x). backward: `grad` comes as dL/dy and leaves as dL/dx; parameter gradients are
/// added to.
template <class L>
concept Layer = requires(L layer, Step& step, Tensor t, typename L::Saved& saved) {
  { layer.forward(step, t, t, saved) } -> std::same_as<void>;
  { layer.backward(step, t, saved) } -> std::same_as<void>;
};

}  // namespace cpplan::engine
