#pragma once
// From the command line of a run to the run itself, the same on the launcher and on every rank.
#include <optional>
#include <string>

#include "app/checked_config.hpp"
#include "device/backend.hpp"
#include "train/training_run.hpp"

namespace cpplan::app {

/// What ends a run before it begins.
struct NotRun {
  int exit_code = 0;
  std::string message;                   // in a line
  std::optional<CheckedConfig> refused;  // where findings say so, too
};

struct PreparedRun {
  CheckedConfig checked;
  train::TrainingData data;
  train::TrainingRun run;
  device::Backend backend = device::Backend::cpu;
};

/// The config with what the engine has to say about it. Error: the file cannot be read.
Result<CheckedConfig> check_run_config(const RunOptions& options);

/// In a line.
std::string first_error(const CheckedConfig& checked);

/// Reads the text, counts the steps over it, and settles the job.
tl::expected<PreparedRun, NotRun> prepare_run(const RunOptions& options, CheckedConfig checked);

}  // namespace cpplan::app
