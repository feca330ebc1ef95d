#include "engine/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace cpplan::engine {
namespace {
using Kind = Action::Kind;

/// Runs all stages' lists against each other; true when every list ends. A stage may go forward
/// once the stage before has, and backward once the next one has.
bool drains(int stages, int micro_batches) {
  std::vector<std::vector<Action>> lists;
  for (int p = 0; p < stages; ++p) {
    lists.push_back(one_forward_one_backward(p, stages, micro_batches));
  }
  std::vector<std::size_t> next(static_cast<std::size_t>(stages));
  std::set<std::pair<int, int>> forward_done, backward_done;  // (stage, micro-batch)
  for (bool moved = true; moved;) {
    moved = false;
    for (int p = 0; p < stages; ++p) {
      if (next[p] == lists[p].size()) continue;
      const Action a = lists[p][next[p]];
      const bool forward = a.kind == Kind::forward;
      const bool ready = forward
                             ? p == 0 || forward_done.contains({p - 1, a.micro_batch})
                             : p + 1 == stages || backward_done.contains({p + 1, a.micro_batch});
      if (!ready) continue;
      (forward ? forward_done : backward_done).insert({p, a.micro_batch});
      ++next[p];
      moved = true;
    }
  }
  return std::equal(next.begin(), next.end(), lists.begin(),
                    [](std::size_t n, const auto& list) { return n == list.size(); });
}

}  // namespace

TEST_CASE("1F1B: warm-up then one forward and one backward at a time") {
  const auto f = [](int m) { return Action{Kind::forward, 0, m}; };
  const auto b = [](int m) { return Action{Kind::backward, 0, m}; };
  CHECK(one_forward_one_backward(0, 3, 4) ==
        std::vector<Action>{f(0), f(1), f(2), b(0), f(3), b(1), b(2), b(3)});
  CHECK(one_forward_one_backward(2, 3, 2) == std::vector<Action>{f(0), b(0), f(1), b(1)});
}

TEST_CASE("1F1B: every micro-batch goes forward and backward once and in order") {
  for (int stages = 1; stages <= 6; ++stages) {
    for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
      for (int p = 0; p < stages; ++p) {
        std::vector<int> forward, backward;
        for (const Action& a : one_forward_one_backward(p, stages, micro_batches)) {
          (a.kind == Kind::forward ? forward : backward).push_back(a.micro_batch);
        }
        CHECK(forward.size() == static_cast<std::size_t>(micro_batches));
        CHECK(forward == backward);
        CHECK(std::is_sorted(forward.begin(), forward.end()));
      }
    }
  }
}

TEST_CASE("1F1B: no deadlock and min of stages left and micro-batches in flight") {
  for (int stages = 1; stages <= 8; ++stages) {
    for (int micro_batches = 1; micro_batches <= 12; ++micro_batches) {
      CHECK(drains(stages, micro_batches));
      for (int p = 0; p < stages; ++p) {
        CHECK(in_flight(one_forward_one_backward(p, stages, micro_batches)) ==
              std::min(stages - p, micro_batches));
      }
    }
  }
}

}  // namespace cpplan::engine
