#include "bench/timing.hpp"

#include <algorithm>
#include <chrono>

namespace cpplan::bench {
namespace {
using Clock = std::chrono::steady_clock;

constexpr int batch_count = 7;
constexpr double batch_seconds = 1.5e-3;  // thousands of the clock's ticks

double seconds_of_calls(const std::function<void()>& call, int calls) {
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Calls that fill a batch.
int calls_of_batch(const std::function<void()>& call) {
  int calls = 1;
  while (calls < (1 << 20)) {
    const double seconds = seconds_of_calls(call, calls);
    if (seconds >= batch_seconds) return calls;
    const double more = seconds > 0 ? 1.2 * batch_seconds / seconds : 16.0;
    calls = static_cast<int>(calls * std::clamp(more, 1.5, 16.0)) + 1;
  }
  return calls;
}

}  // namespace

double undisturbed(std::vector<double> batches) {
  std::ranges::sort(batches);
  return batches[std::min<std::size_t>(1, batches.size() - 1)];
}

double seconds_of(const std::function<void()>& call, const Barrier& together) {
  const int calls = calls_of_batch(call);
  together();
  std::vector<double> seconds;
  for (int batch = 0; batch < batch_count; ++batch)
    seconds.push_back(seconds_of_calls(call, calls) / calls);
  return undisturbed(std::move(seconds));
}

}  // namespace cpplan::bench
