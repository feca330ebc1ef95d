#include "engine/schedule.hpp"

#include <algorithm>

namespace cpplan::engine {

std::vector<Action> one_forward_one_backward(int stage, int stages, int micro_batches) {
  const int warm_up = std::min(stages - stage - 1, micro_batches);
  std::vector<Action> actions;
  for (int m = 0; m < warm_up; ++m) actions.push_back({Action::Kind::forward, 0, m});
  for (int m = 0; m < micro_batches; ++m) {
    if (warm_up + m < micro_batches) {
      actions.push_back({Action::Kind::forward, 0, warm_up + m});
    }
    actions.push_back({Action::Kind::backward, 0, m});
  }
  return actions;
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
