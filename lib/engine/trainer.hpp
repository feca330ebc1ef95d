#pragma once
// One rank of a training run: parameters, and a step. Knows no file, clock or config.
#include <memory>
#include <span>
#include <vector>

#include "engine/control.hpp"
#include "engine/parameters.hpp"
#include "engine/pipeline.hpp"

namespace cpplan::engine {

/// The same on every rank.
struct StepResult {
  double loss = 0;       // mean over the step's labelled tokens of the whole world
  double grad_norm = 0;  // global, before clipping, of the mean loss
  Index tokens = 0;      // labelled ones
  Votes votes;           // of all ranks
};

/// Bytes of each arena of a rank.
struct MemoryPlan {
  Bytes parameters, gradients, optimizer, scratch, inputs, control;
  Bytes rebuilt;             // what a layer that is computed again saves
  Bytes gathered;            // whole parameters and gradients of layers whose shards are kept
  std::vector<Bytes> saved;  // one for each micro-batch in flight
  Bytes remote;              // of scratch: the most that rows of other CP ranks took
  Bytes snapshot;            // on the host: what the rank writes of a checkpoint
  Bytes total() const;
  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

class Trainer {
 public:
  /// Allocates the arenas of `memory` and draws the initial weights. `groups` and `ops` outlive it.
  Trainer(kernels::Ops& ops, const Groups& groups, const Job& job, layout::Coordinates at,
          const MemoryPlan& memory);
  ~Trainer();

  /// One optimizer step, numbered from 1. `source(m)` gives micro-batch m of this data-parallel
  /// rank. Throws Failure when a peer is gone, or when loss or gradients are not finite.
  StepResult step(Index number, double learning_rate, const MicroBatchSource& source,
                  const Votes& mine = {});

  /// What this rank owns. After step() the gradients are summed over all ranks that share them, not
  /// yet divided by the number of tokens.
  std::span<const Parameter> parameters() const;
  /// After step(): squared gradient norm of every tensor of the model, by slot, of the mean loss.
  std::span<const double> squared_norms() const;
  /// After values of parameters() were set from outside.
  void values_were_set();
  /// The most that each arena held so far.
  MemoryPlan peak() const;
  /// What each arena holds now, and their sum.
  MemoryPlan held() const;
  Bytes held_in_all() const;
  /// Where in a step the rank is.
  const Position& position() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cpplan::engine
