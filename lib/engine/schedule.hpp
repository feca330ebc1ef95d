#pragma once
// A pipeline schedule is a list, made by a pure function: the engine walks it, a simulator can time
// it, a report can draw it, and a test proves it free of deadlock for every (stages,
// micro-batches).
#include <vector>

namespace cpplan::engine {

struct Action {
  enum class Kind { forward, backward } kind;
  int chunk;        // of the stage's layers; 0 unless the schedule is interleaved
  int micro_batch;  // from 0
  friend bool operator==(const Action&, const Action&) = default;
};

/// PipeDream-flush (arXiv 2006.09503 §2.2): min(stages - stage - 1, micro_batches) forwards, then
/// one forward and one backward at a time, then the backwards that are left.
std::vector<Action> one_forward_one_backward(int stage, int stages, int micro_batches);

/// Megatron-LM's interleaved 1F1B (arXiv 2104.04473 §2.2): chunk v of a stage is virtual stage
/// v * stages + stage; micro-batches pass in groups of `stages`, each group through all chunks.
/// Contract: can_interleave().
std::vector<Action> interleaved(int stage, int stages, int chunks, int micro_batches);
/// A last group that is not whole would leave stages that wait for each other.
constexpr bool can_interleave(int stages, int micro_batches) {
  return stages > 1 && micro_batches % stages == 0;
}

/// The schedule of a stage: 1F1B, interleaved where it holds several chunks.
std::vector<Action> schedule_of(int stage, int stages, int chunks, int micro_batches);

/// Micro-batches, counted by chunk, whose activations are alive at once.
int in_flight(const std::vector<Action>&);

}  // namespace cpplan::engine
