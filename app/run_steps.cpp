#include "app/run_steps.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/usage.hpp"
#include "cluster/machine.hpp"
#include "diag/rule_table.hpp"
#include "launch/memory_check.hpp"
#include "plan/make_plan.hpp"
#include "record/promises.hpp"

namespace cpplan::app {

namespace {

std::optional<Bytes> shrunk_arenas(const RunOptions& options) {
  if (options.config.inputs.shrink) return {};
  RunOptions smaller = options;
  smaller.config.inputs.shrink = true;
  const auto checked = check_run_config(smaller);
  if (!checked || !checked->plan) return {};
  return arenas_of(*checked->plan);
}

}  // namespace

void print_now(std::string_view text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

int stop_with(int exit_code, std::string_view message) {
  fmt::print(stderr, "error: {}\n", message);
  return exit_code;
}

int stop_with(const NotRun& reason, ColorMode mode) {
  if (!reason.refused) return stop_with(reason.exit_code, reason.message);
  print_verdict(*reason.refused, mode);
  return reason.exit_code;
}

int check_rank_flags(std::string_view subcommand, const RunOptions& options) {
  const auto& world_size = options.config.inputs.world_size;
  if (options.ranks && world_size && *options.ranks != *world_size)
    return usage_error(subcommand, fmt::format("-n {} and --world-size {} differ. use one of them",
                                               *options.ranks, *world_size));
  if (options.path == "-")
    return usage_error(
        subcommand,
        fmt::format("{} reads a file (every rank reads it again). name one", subcommand));
  return ok;
}

void print_verdict(const CheckedConfig& checked, ColorMode mode) {
  const auto color = color_of(Stream::standard_output, mode);
  print_now(diag::render_text(checked.findings, std::span(&checked.source, 1), color) +
            diag::summary_line(diag::summarize(checked.findings), checked.source.name()));
}

train::StepLimit limit_of(const RunOptions& options) {
  if (!options.timeout) return train::StepLimit();
  return train::StepLimit(train::Seconds(*options.timeout));
}

int verdict_on(const record::RunRecord& record, const RunOptions& options) {
  if (!options.check || record.broken_promises.empty()) return ok;
  return stop_with(check_failed, record::check_message(record.broken_promises));
}

std::vector<int> checkpoint_signals(const PreparedRun& prepared) {
  return prepared.run.checkpoints ? std::vector{SIGUSR1, SIGTERM} : std::vector<int>{};
}

Bytes arenas_of(plan::Plan plan) {
  plan::measure_engine(plan);
  return plan.engine_memory ? plan.layout.dims.world() * plan.engine_memory->total : Bytes{};
}

Result<device::Backend> backend_of(const RunOptions& options, const plan::Plan& plan) {
  using device::BackendChoice;
  if (options.backend) return device::choose_backend(*options.backend);
  const auto& configured = plan.config.run.backend;
  const std::string name = configured.value_or("auto");
  return device::choose_backend(name == "cuda"  ? BackendChoice::cuda
                                : name == "cpu" ? BackendChoice::cpu
                                                : BackendChoice::automatic);
}

Result<void> check_transport(const RunOptions& options, device::Backend backend) {
  if (options.transport != Transport::nccl) return {};
  if (backend == device::Backend::cpu)
    return failure(
        "--transport nccl has nothing to carry (it moves tensors of GPUs, and this run computes on "
        "the cpu). use --transport mpi");
  if (const auto library = comm::nccl_library(); !library) return tl::unexpected(library.error());
  return {};
}

train::DeviceTransport device_transport(Transport transport) {
  if (transport == Transport::automatic) return train::DeviceTransport::automatic;
  return transport == Transport::nccl ? train::DeviceTransport::nccl : train::DeviceTransport::host;
}

Result<void> check_memory(const RunOptions& options, const Demand& wanted) {
  const auto machine = cluster::this_machine();
  if (!machine) return tl::unexpected(machine.error());
  const launch::MemoryDemand demand{.world = wanted.processes, .of_arenas = wanted.arenas};
  if (demand.total() <= machine->available_memory) return {};
  return launch::check_memory(demand, machine->available_memory, shrunk_arenas(options));
}

}  // namespace cpplan::app
