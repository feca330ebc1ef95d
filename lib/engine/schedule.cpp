#include "engine/schedule.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace cpplan::engine {
namespace {

/// `warm_up` forwards, then one forward and one backward at a time, then the backwards that are
/// left.
std::vector<Action> alternate(const std::vector<Action>& forwards,
                              const std::vector<Action>& backwards, int warm_up) {
  std::vector<Action> actions(forwards.begin(), forwards.begin() + warm_up);
  auto forward = forwards.begin() + warm_up;
  for (const Action& backward : backwards) {
    if (forward != forwards.end()) actions.push_back(*forward++);
    actions.push_back(backward);
  }
  return actions;
}

/// Groups of `stages` micro-batches; each group passes chunk after chunk, backward the last first.
std::vector<Action> in_groups(Action::Kind kind, int stages, int chunks, int micro_batches) {
  std::vector<Action> actions;
  for (int first = 0; first < micro_batches; first += stages) {
    for (int turn = 0; turn < chunks; ++turn) {
      const int chunk = kind == Action::Kind::forward ? turn : chunks - 1 - turn;
      const int end = std::min(first + stages, micro_batches);
      for (int m = first; m < end; ++m) actions.push_back({kind, chunk, m});
    }
  }
  return actions;
}

}  // namespace

std::vector<Action> one_forward_one_backward(int stage, int stages, int micro_batches) {
  return alternate(in_groups(Action::Kind::forward, 1, 1, micro_batches),
                   in_groups(Action::Kind::backward, 1, 1, micro_batches),
                   std::min(stages - stage - 1, micro_batches));
}

std::vector<Action> interleaved(int stage, int stages, int chunks, int micro_batches) {
  expect(can_interleave(stages, micro_batches), "micro-batches fill groups of the stages");
  const int warm_up = 2 * (stages - stage - 1) + (chunks - 1) * stages;
  return alternate(in_groups(Action::Kind::forward, stages, chunks, micro_batches),
                   in_groups(Action::Kind::backward, stages, chunks, micro_batches),
                   std::min(warm_up, micro_batches * chunks));
}

std::vector<Action> schedule_of(int stage, int stages, int chunks, int micro_batches) {
  return chunks == 1 ? one_forward_one_backward(stage, stages, micro_batches)
                     : interleaved(stage, stages, chunks, micro_batches);
}

int in_flight(const std::vector<Action>& actions) {
  int alive = 0, most = 0;
  for (const Action& action : actions) {
    alive += action.kind == Action::Kind::forward ? 1 : -1;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace cpplan::engine
