#pragma once
// One rank of a training run: parameters, and a step. Knows no file, clock or config.
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/job.hpp"
#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

/// The samples of one micro-batch, in sample order and without padding; labels below 0 are ignored.
/// The same on every TP, CP and PP rank; the engine takes its own rows.
struct MicroBatch {
  std::vector<layout::DocumentLength> documents;
  std::vector<std::int32_t> tokens, labels;
  std::uint32_t first_sample = 0;  // global number of sample 0
};

/// Same on every rank.
struct StepResult {
  double loss = 0;       // mean over the step's labelled tokens of the whole world
  double grad_norm = 0;  // global, before clipping, of the mean loss
  Index tokens = 0;      // labelled ones
};

/// Bytes of each arena of a rank, as the meta run of one step found them.
struct MemoryPlan {
  Bytes parameters, gradients, optimizer, scratch, inputs, control;
  std::vector<Bytes> saved;  // one for each micro-batch in flight
  Bytes total() const;
};

class Trainer {
 public:
  /// Allocates the arenas of `memory` and draws the initial weights. `groups` and `ops` outlive it.
  Trainer(kernels::Ops& ops, const Groups& groups, const Job& job, layout::Coordinates at,
          const MemoryPlan& memory);
  ~Trainer();

  /// One optimizer step, numbered from 1. `micro_batch(m)` gives micro-batch m of this
  /// data-parallel rank. Throws Failure when a peer is gone or the loss is not finite.
  StepResult step(Index number, double learning_rate,
                  const std::function<MicroBatch(int m)>& micro_batch);

  /// This rank's shards. After step() the gradients are summed over all ranks, not yet divided by
  /// the number of tokens.
  std::span<const Parameter> parameters() const;
  /// After step(): squared gradient norm of every tensor of the model by slot, of the mean loss.
  std::span<const double> squared_norms() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cpplan::engine
