#pragma once
// A run whose ranks are threads of this process: --transport threads, and the tests.
#include <functional>

#include "base/result.hpp"
#include "train/rank_loop.hpp"

namespace cpplan::train {

/// Called on rank 0 after each step.
using StepListener = std::function<void(const record::StepRecord&)>;

/// The record of rank 0. Error: what a rank that failed said first.
Result<record::RunRecord> run_in_process(const TrainingRun&, StepLimit, const StepListener&);

}  // namespace cpplan::train
