#include "train/in_process.hpp"

#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "base/failure.hpp"
#include "engine/groups.hpp"
#include "train/connections.hpp"

namespace cpplan::train {
namespace {

class Listening final : public StepObserver {
 public:
  Listening(int rank, const RunListener& listener) : rank_(rank), listener_(listener) {}
  void begins(Index step, const StepLimit&) override { step_ = step; }
  void ended(const record::StepRecord& step) override {
    if (rank_ == 0 && listener_.step) listener_.step(step);
  }
  void saving(const StepLimit&) override {}
  void notes(const std::string& line) override {
    if (listener_.note) listener_.note(line);
  }
  bool stop_requested() override { return listener_.stop_requested && listener_.stop_requested(); }
  Index step() const { return step_; }

 private:
  int rank_;
  const RunListener& listener_;
  Index step_ = 0;
};

/// What ranks that failed said: one that only witnessed it leaves the word to the others.
class FirstWords {
 public:
  explicit FirstWords(comm::ThreadWorld& world) : world_(world) {}

  void take(int rank, Index step, const Failure& failure) {
    const auto words = fmt::format("rank {} failed in step {} ({})", rank, step, failure.what());
    const bool witness = failure.role == Failure::Role::witness;
    const auto first = witness ? words : world_.fail(words);
    const std::scoped_lock lock(mutex_);
    (witness ? witnessed_ : caused_) = first;
  }
  bool any() const { return caused_ || witnessed_; }
  const std::string& of_the_cause() const { return caused_ ? *caused_ : *witnessed_; }

 private:
  comm::ThreadWorld& world_;
  std::mutex mutex_;
  std::optional<std::string> caused_, witnessed_;
};

}  // namespace

record::RunRecord train_rank_in(comm::ThreadWorld& world, int number, const TrainingRun& run,
                                StepLimit limit, StepObserver& observer, device::Backend backend) {
  WaitTrace trace;
  auto& endpoint = world.endpoint(number);
  const auto ops = device::make_ops(backend, trace, number, [&endpoint] { endpoint.progress(); });
  const layout::Ranks ranks(run.job.dims, run.job.order);
  const auto groups = engine::group_settings(run.job);
  const HostSide host{.transport = "threads",
                      .host = "this process",
                      .rank = number,
                      .endpoint = endpoint,
                      .make_groups = [&](kernels::Trace& told) {
                        return comm::make_thread_groups(world, ranks, number, told, groups);
                      }};
  const Connections connections(
      host, ops->device(), trace,
      {.ranks = ranks, .groups = groups, .wanted = DeviceTransport::host});
  auto record = train_rank(
      run, {number, *ops, connections.groups(), endpoint, Process::shared, &trace.clock()}, limit,
      observer);
  record.transport = connections.transport();
  return record;
}

Result<record::RunRecord> run_in_process(const TrainingRun& run, StepLimit limit,
                                         const RunListener& listener, device::Backend backend) {
  const int size = static_cast<int>(run.job.dims.world());
  comm::ThreadWorld world(size, to_milliseconds(limit.of_wait()));
  record::RunRecord record;
  FirstWords words(world);
  const auto body = [&](int number) {
    Listening observer(number, listener);
    try {
      auto result = train_rank_in(world, number, run, limit, observer, backend);
      if (number == 0) record = std::move(result);
    } catch (const Failure& failure) {
      words.take(number, observer.step(), failure);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < size; ++number) threads.emplace_back(body, number);
  }
  if (words.any()) return failure(words.of_the_cause());
  record.backend = device::name_of(backend);
  return record;
}

}  // namespace cpplan::train
