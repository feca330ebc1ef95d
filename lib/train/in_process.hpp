#pragma once
// A run whose ranks are threads of this process: --transport threads, and the tests.
#include <functional>

#include "base/result.hpp"
#include "comm/threads.hpp"
#include "device/backend.hpp"
#include "train/rank_loop.hpp"

namespace cpplan::train {

/// Told what happens while a run goes on; each may be empty.
struct RunListener {
  std::function<void(const record::StepRecord&)> step;  // of rank 0, after each step
  std::function<void(const std::string&)> note;         // of any rank: worth a line for the user
  /// Asked before each step: should the run write a checkpoint and end?
  std::function<bool()> stop_requested;
};

/// Trains rank `number` of `world` on the calling thread. Throws Failure.
record::RunRecord train_rank_in(comm::ThreadWorld& world, int number, const TrainingRun&, StepLimit,
                                StepObserver&, device::Backend = device::Backend::cpu);

/// The record of rank 0. Error: what a rank that failed said first.
Result<record::RunRecord> run_in_process(const TrainingRun&, StepLimit, const RunListener&,
                                         device::Backend = device::Backend::cpu);

}  // namespace cpplan::train
