#include "train/in_process.hpp"

#include <fmt/format.h>

#include <mutex>
#include <thread>

#include "base/failure.hpp"
#include "engine/groups.hpp"
#include "kernels/cpu/cpu_ops.hpp"

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

}  // namespace

record::RunRecord train_rank_in(comm::ThreadWorld& world, int number, const TrainingRun& run,
                                StepLimit limit, StepObserver& observer) {
  kernels::NoTrace trace;
  const auto ops = kernels::make_cpu_ops(trace);
  const layout::Ranks ranks(run.job.dims, run.job.order);
  const auto groups =
      comm::make_thread_groups(world, ranks, number, trace, engine::group_settings(run.job));
  auto& endpoint = world.endpoint(number);
  kernels::set_progress(*ops, [&endpoint] { endpoint.progress(); });
  return train_rank(run, {number, *ops, groups, endpoint}, limit, observer);
}

Result<record::RunRecord> run_in_process(const TrainingRun& run, StepLimit limit,
                                         const RunListener& listener) {
  const int size = static_cast<int>(run.job.dims.world());
  comm::ThreadWorld world(size, to_milliseconds(limit.of_wait()));
  record::RunRecord record;
  std::optional<std::string> failed;
  std::mutex mutex;
  const auto body = [&](int number) {
    Listening observer(number, listener);
    try {
      auto result = train_rank_in(world, number, run, limit, observer);
      if (number == 0) record = std::move(result);
    } catch (const Failure& failure) {
      const auto first = world.fail(
          fmt::format("rank {} failed in step {} ({})", number, observer.step(), failure.what()));
      const std::scoped_lock lock(mutex);
      failed = first;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < size; ++number) threads.emplace_back(body, number);
  }
  if (failed) return failure(*failed);
  record.backend = "cpu", record.transport = "threads";
  return record;
}

}  // namespace cpplan::train
