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

/// Micro-batches whose activations are alive at once.
int in_flight(const std::vector<Action>&);

}  // namespace cpplan::engine
