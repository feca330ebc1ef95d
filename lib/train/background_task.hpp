#pragma once
// One thing at a time beside training, on a thread of its own that speaks to no other rank.
#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/contract.hpp"
#include "base/result.hpp"

namespace cpplan::train {

class BackgroundTask {
 public:
  using Work = std::function<Result<void>(const std::stop_token&)>;

  BackgroundTask() = default;
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  /// Contract: none is running or waits to be fetched.
  void start(Work work) {
    expect(!thread_.joinable(), "one task at a time");
    done_ = false;
    thread_ = std::jthread([this, work = std::move(work)](const std::stop_token& stop) {
      result_ = work(stop);
      done_ = true;
    });
  }
  /// A task has come to its end and waits to be fetched.
  bool done() const { return thread_.joinable() && done_; }
  /// What came of it. Contract: done().
  Result<void> fetch() {
    expect(done(), "the task has ended");
    thread_.join();
    return std::move(result_);
  }

 private:
  std::atomic<bool> done_ = false;
  Result<void> result_;
  std::jthread thread_;  // last: asked to stop, and waited for, before the rest goes
};

}  // namespace cpplan::train
