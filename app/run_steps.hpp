#pragma once
// What `run` and `verify` have in common on their way to a first step.
#include <string_view>
#include <vector>

#include "app/prepared_run.hpp"
#include "record/run_record.hpp"
#include "train/connections.hpp"
#include "train/step_limit.hpp"

namespace cpplan::app {

/// On standard output, without waiting for more.
void print_now(std::string_view text);

/// Says why on standard error and returns the exit code.
int stop_with(int exit_code, std::string_view message);
int stop_with(const NotRun& reason, ColorMode mode);

/// Usage errors of flags that say how many ranks there are, and of a config that cannot be read
/// twice; ok where there are none.
int check_rank_flags(std::string_view subcommand, const RunOptions& options);

/// The findings and how many there are.
void print_verdict(const CheckedConfig& checked, ColorMode mode);

train::StepLimit limit_of(const RunOptions& options);

/// 5, with what was broken on standard error, where --check asks for promises that do not hold.
int verdict_on(const record::RunRecord& record, const RunOptions& options);

/// Those that the run answers with a checkpoint and the end; none where it keeps no checkpoints.
std::vector<int> checkpoint_signals(const PreparedRun& prepared);

/// What `processes` of this machine hold together.
struct Demand {
  int processes = 1;
  Bytes arenas;
};
/// Every rank counts as the heaviest.
Bytes arenas_of(plan::Plan plan);

/// What the run computes on: as --backend says, else as the config does. Error: it is not there.
Result<device::Backend> backend_of(const RunOptions&, const plan::Plan&);

/// Error: --transport asks for what does not carry the tensors of that backend, or is not there.
Result<void> check_transport(const RunOptions&, device::Backend);
/// What is to carry the tensors of devices.
train::DeviceTransport device_transport(Transport);

/// Error where that does not fit this machine; it names what --shrink would need.
Result<void> check_memory(const RunOptions& options, const Demand& demand);

}  // namespace cpplan::app
