#pragma once
// From the command line of a run to the run itself, the same on the launcher and on every rank.
#include "app/checked_config.hpp"
#include "device/backend.hpp"
#include "train/training_run.hpp"

namespace cpplan::app {

/// What ends a run before it begins: its exit code, and why where no finding says so.
struct NotRun {
  int exit_code = 0;
  std::string message;
};

struct PreparedRun {
  CheckedConfig checked;
  train::TrainingData data;
  train::TrainingRun run;
  device::Backend backend = device::Backend::cpu;
};

/// The config with what the engine has to say about it. Error: the file cannot be read.
Result<CheckedConfig> check_run_config(const RunOptions& options);

/// Reads the text, counts the steps over it, and settles the job.
tl::expected<PreparedRun, NotRun> prepare_run(const RunOptions& options, CheckedConfig checked);

}  // namespace cpplan::app
