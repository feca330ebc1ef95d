#include "comm/rank_runner.hpp"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/failure.hpp"

namespace cpplan::comm {
namespace {

/// How the ranks of a run ended.
class Outcome {
 public:
  explicit Outcome(ThreadWorld& world) : world_(world) {}

  void run(int rank, const std::function<void(int)>& body) {
    try {
      body(rank);
    } catch (const Failure& failure) {
      fail(fmt::format("rank {}: {}", rank, failure.what()));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      world_.fail(fmt::format("rank {} ended by an exception", rank));
    }
  }

  Result<void> result() const {
    if (thrown_) std::rethrow_exception(thrown_);
    if (!reason_.empty()) return failure(reason_);
    return {};
  }

 private:
  void fail(std::string reason) {
    const std::string first = world_.fail(std::move(reason));
    const std::lock_guard lock(mutex_);
    reason_ = first;
  }

  ThreadWorld& world_;
  std::mutex mutex_;
  std::string reason_;
  std::exception_ptr thrown_;
};

}  // namespace

Result<void> run_ranks(ThreadWorld& world, const std::function<void(int rank)>& body) {
  Outcome outcome(world);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world.size(); ++rank)
      threads.emplace_back([&outcome, &body, rank] { outcome.run(rank, body); });
  }
  return outcome.result();
}

}  // namespace cpplan::comm
