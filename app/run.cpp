// One subcommand, three roles: the launcher of ranks, a rank, and all ranks as threads.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/prepared_run.hpp"
#include "app/progress_bar.hpp"
#include "app/run_text.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "cluster/machine.hpp"
#include "diag/rule_table.hpp"
#include "launch/memory_check.hpp"
#include "launch/scratch_folder.hpp"
#include "launch/started_as.hpp"
#include "launch/stop_request.hpp"
#include "launch/supervisor.hpp"
#include "plan/make_plan.hpp"
#include "train/mpi_worker.hpp"

namespace cpplan::app {
namespace {

void print_now(std::string_view text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

int stop_with(int exit_code, std::string_view message) {
  fmt::print(stderr, "error: {}\n", message);
  return exit_code;
}

int stop_with(const NotRun& reason) {
  if (!reason.message.empty()) return stop_with(reason.exit_code, reason.message);
  return reason.exit_code;
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

std::optional<std::filesystem::path> record_path(const RunOptions& options) {
  if (!options.record) return {};
  return std::filesystem::path(*options.record);
}

std::vector<std::string> arguments_of_ranks(const RunOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  std::erase(arguments, "--dry-run");
  return arguments;
}

launch::Command command_of(const RunOptions& options, const plan::Plan& plan,
                           const record::RunFolder& folder) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return launch::mpirun_command(
      {.world = static_cast<int>(plan.layout.dims.world()),
       .executable = self.string(),
       .arguments = arguments_of_ranks(options),
       .folder = folder,
       .user = geteuid() == 0 ? launch::User::root : launch::User::other});
}

int dry_run(const RunOptions& options, const plan::Plan& plan) {
  const record::RunFolder made_at_start{"/dev/shm/cpplan-XXXXXX"};
  print_now(launch::shell_line(command_of(options, plan, made_at_start)) + "\n");
  for (const auto& line : launch::rank_map(layout::Ranks(plan.layout.dims, plan.layout.order)))
    print_now(line + "\n");
  return ok;
}

/// Of all ranks together; every rank counts as the heaviest.
Bytes arenas_of(plan::Plan plan) {
  plan::measure_engine(plan);
  return plan.engine_memory ? plan.layout.dims.world() * plan.engine_memory->total : Bytes{};
}

std::optional<Bytes> shrunk_arenas(const RunOptions& options) {
  if (options.config.inputs.shrink) return {};
  RunOptions smaller = options;
  smaller.config.inputs.shrink = true;
  const auto checked = check_run_config(smaller);
  if (!checked || !checked->plan) return {};
  return arenas_of(*checked->plan);
}

Result<void> check_memory(const RunOptions& options, const plan::Plan& plan) {
  const auto machine = cluster::this_machine();
  if (!machine) return tl::unexpected(machine.error());
  const launch::MemoryDemand demand{.world = static_cast<int>(plan.layout.dims.world()),
                                    .of_arenas = arenas_of(plan)};
  if (demand.total() <= machine->available_memory) return {};
  return launch::check_memory(demand, machine->available_memory, shrunk_arenas(options));
}

int run_threads(const RunOptions& options, const PreparedRun& prepared) {
  ProgressBar bar(prepared.run.steps);
  const auto listener = [&](const record::StepRecord& step) {
    bar.clear();
    print_now(step_line(step));
    bar.show(step.step);
  };
  const auto record = train::run_in_process(prepared.run, limit_of(options), listener);
  bar.clear();
  if (!record) return stop_with(rank_failed, record.error().message);
  print_now(run_summary(*record, prepared.data));
  if (const auto path = record_path(options))
    if (const auto written = record::write_run_record(*path, *record); !written)
      return stop_with(environment, written.error().message);
  return ok;
}

int run_rank(const RunOptions& options, const PreparedRun& prepared,
             const launch::RankIdentity& identity) {
  const train::WorkerSettings settings{
      .rank = identity.rank,
      .folder = identity.folder,
      .record = record_path(options),
      .timeout = options.timeout ? std::optional(train::Seconds(*options.timeout)) : std::nullopt};
  const auto listener = [](const record::StepRecord& step) { print_now(step_line(step)); };
  const auto record = train::run_mpi_worker(prepared.run, settings, listener);
  if (!record) return stop_with(environment, record.error().message);
  if (identity.rank == 0) print_now(run_summary(*record, prepared.data));
  return ok;
}

int report(const Result<launch::Outcome>& outcome, int world, ColorMode mode) {
  using End = launch::Outcome::End;
  if (!outcome) return stop_with(environment, outcome.error().message);
  if (outcome->end == End::finished) return ok;
  if (outcome->end == End::interrupted) {
    fmt::print(stderr, "interrupted: all {} ranks were stopped\n", world);
    return interrupted;
  }
  const diag::Diagnostics finding = {launch::to_diagnostic(*outcome->failure, world)};
  fmt::print(stderr, "{}", diag::render_text(finding, {}, color_of(Stream::standard_error, mode)));
  return rank_failed;
}

int launch_ranks(const RunOptions& options, const PreparedRun& prepared) {
  const auto scratch = launch::ScratchFolder::create();
  if (!scratch) return stop_with(environment, scratch.error().message);
  const launch::StopRequest stop;
  ProgressBar bar(prepared.run.steps);
  const launch::Listener listener{
      .line =
          [&](int rank, launch::Stream stream, const std::string& line) {
            bar.clear();
            if (stream == launch::Stream::out) return print_now(line + "\n");
            fmt::print(stderr, "rank {}: {}\n", rank, line);
          },
      .progress = [&](Index step) { bar.show(step); },
      .stop_requested = [&] { return stop.made(); }};
  const int world = static_cast<int>(prepared.run.job.dims.world());
  launch::Supervision job{.world = world, .folder = scratch->folder()};
  if (options.timeout) job.start_limit = launch::Seconds(*options.timeout);
  const auto processes = launch::make_processes();
  const auto command = command_of(options, *prepared.checked.plan, scratch->folder());
  const auto outcome = launch::supervise(*processes, command, job, listener);
  bar.clear();
  return report(outcome, world, options.config.color);
}

/// The part that is the same for every role, and speaks for whoever is not a rank beside others.
int run_as(const RunOptions& options, const std::optional<launch::RankIdentity>& rank) {
  const bool speaks = !rank || (rank->rank == 0 && !rank->folder);
  auto checked = check_run_config(options);
  if (!checked) return stop_with(environment, checked.error().message);
  if (!checked->plan || exit_code_of(checked->findings) != ok) {
    if (speaks) print_verdict(*checked, options.config.color);
    return findings;
  }
  if (options.dry_run) return dry_run(options, *checked->plan);
  const auto prepared = prepare_run(options, std::move(*checked));
  if (!prepared) return stop_with(prepared.error());
  if (speaks) print_verdict(prepared->checked, options.config.color);
  if (speaks && !rank)
    if (const auto fits = check_memory(options, *prepared->checked.plan); !fits)
      return stop_with(findings, fits.error().message);
  if (speaks) print_now(run_header(*prepared, options.transport));
  if (options.transport == Transport::threads) return run_threads(options, *prepared);
  return rank ? run_rank(options, *prepared, *rank) : launch_ranks(options, *prepared);
}

}  // namespace

int run(const RunOptions& options) {
  const auto& world_size = options.config.inputs.world_size;
  if (options.ranks && world_size && *options.ranks != *world_size)
    return usage_error("run", fmt::format("-n {} and --world-size {} differ. use one of them",
                                          *options.ranks, *world_size));
  if (options.path == "-")
    return usage_error("run", "run reads a file (every rank reads it again). name one");
  const auto rank = launch::started_as(cluster::process_variables());
  if (!rank) return stop_with(environment, rank.error().message);
  return run_as(options, *rank);
}

}  // namespace cpplan::app
