#include "engine/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace cpplan::engine {
namespace {
using Kind = Action::Kind;

/// Runs all stages' lists against each other as the engine does, over a transport that keeps
/// nothing: a send ends when it is received. An activation's buffer is needed again at its
/// backward, a chunk's buffer of gradients at its next backward. True when every list ends.
class Pipeline {
 public:
  Pipeline(int stages, int chunks, int micro_batches) : stages_(stages), chunks_(chunks) {
    for (int p = 0; p < stages; ++p) {
      lists_.push_back(schedule_of(p, stages, chunks, micro_batches));
    }
    next_.resize(lists_.size());
    gradient_sent_.resize(lists_.size() * static_cast<std::size_t>(chunks));
  }

  bool drains() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int p = 0; p < stages_; ++p) moved |= advance(p);
    }
    return std::equal(next_.begin(), next_.end(), lists_.begin(),
                      [](std::size_t n, const auto& list) { return n == list.size(); });
  }

 private:
  using Transfer =
      std::tuple<Kind, int, int>;  // direction, virtual stage it comes from, micro-batch

  bool advance(int p) {
    if (next_[p] == lists_[p].size()) return false;
    const Action a = lists_[p][next_[p]];
    const int stage = a.chunk * stages_ + p, last = stages_ * chunks_ - 1;
    auto& sent = gradient_sent_[static_cast<std::size_t>(stage)];
    if (a.kind == Kind::forward) {
      if (stage > 0 && !receive({Kind::forward, stage - 1, a.micro_batch})) return false;
      if (stage < last) sent_.insert({Kind::forward, stage, a.micro_batch});
    } else {
      if (stage < last && !received_.contains({Kind::forward, stage, a.micro_batch})) return false;
      if (sent && !received_.contains(*sent)) return false;
      if (stage < last && !receive({Kind::backward, stage + 1, a.micro_batch})) return false;
      if (stage > 0) sent = Transfer{Kind::backward, stage, a.micro_batch};
      if (stage > 0) sent_.insert(*sent);
    }
    ++next_[p];
    return true;
  }

  bool receive(const Transfer& transfer) {
    if (!sent_.contains(transfer)) return false;
    received_.insert(transfer);
    return true;
  }

  int stages_, chunks_;
  std::vector<std::vector<Action>> lists_;
  std::vector<std::size_t> next_;
  std::vector<std::optional<Transfer>> gradient_sent_;
  std::set<Transfer> sent_, received_;
};

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
      CHECK(Pipeline(stages, 1, micro_batches).drains());
      for (int p = 0; p < stages; ++p) {
        CHECK(in_flight(one_forward_one_backward(p, stages, micro_batches)) ==
              std::min(stages - p, micro_batches));
      }
    }
  }
}

TEST_CASE("interleaved: no deadlock where micro-batches fill groups") {
  for (int stages = 2; stages <= 6; ++stages) {
    for (int chunks = 2; chunks <= 4; ++chunks) {
      for (int groups = 1; groups <= 4; ++groups) {
        CAPTURE(stages);
        CAPTURE(chunks);
        CAPTURE(groups);
        CHECK(Pipeline(stages, chunks, groups * stages).drains());
      }
    }
  }
}

TEST_CASE("interleaved: every chunk of every micro-batch goes forward and backward once") {
  for (int p = 0; p < 3; ++p) {
    std::set<std::pair<int, int>> forward, backward;
    const auto actions = interleaved(p, 3, 2, 6);
    for (const Action& a : actions) {
      const bool first_time =
          (a.kind == Kind::forward ? forward : backward).insert({a.chunk, a.micro_batch}).second;
      CHECK(first_time);
      if (a.kind == Kind::backward) CHECK(forward.contains({a.chunk, a.micro_batch}));
    }
    CHECK(actions.size() == 2 * 2 * 6);
    CHECK(forward == backward);
  }
}

TEST_CASE("interleaved: refused where a group would not be whole") {
  CHECK(can_interleave(2, 4));
  CHECK(!can_interleave(2, 5));
  CHECK(!can_interleave(1, 4));
}

}  // namespace cpplan::engine
