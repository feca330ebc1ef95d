#pragma once
// How long a rank waits for its peers before it calls them gone.
#include <algorithm>
#include <chrono>
#include <optional>

namespace cpplan::train {

using Seconds = std::chrono::duration<double>;

/// max(60 s, 10 x the longest step so far); 300 s until the first step is done. --timeout
/// overrides.
class StepLimit {
 public:
  explicit StepLimit(std::optional<Seconds> timeout = {}) : timeout_(timeout) {}

  void learn(Seconds step) { longest_ = std::max(longest_.value_or(step), step); }
  /// Of one wait.
  Seconds of_wait() const { return timeout_.value_or(by_experience()); }
  /// Of a step as a whole, in which many waits may be long ones.
  Seconds of_step() const { return by_experience() + 2 * of_wait(); }

 private:
  Seconds by_experience() const {
    return longest_ ? std::max(Seconds(60), 10 * *longest_) : Seconds(300);
  }

  std::optional<Seconds> timeout_, longest_;
};

inline std::chrono::milliseconds to_milliseconds(Seconds seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(seconds);
}

}  // namespace cpplan::train
