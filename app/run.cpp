// One subcommand, three roles: the launcher of ranks, a rank, and all ranks as threads.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/progress_bar.hpp"
#include "app/run_archive.hpp"
#include "app/run_steps.hpp"
#include "app/run_text.hpp"
#include "app/subcommands.hpp"
#include "base/signal_flag.hpp"
#include "diag/rule_table.hpp"
#include "launch/scratch_folder.hpp"
#include "launch/started_as.hpp"
#include "launch/stop_request.hpp"
#include "launch/supervisor.hpp"
#include "plan/make_plan.hpp"
#include "record/promises.hpp"
#include "train/mpi_worker.hpp"
#include "train/starting_point.hpp"

namespace cpplan::app {
namespace {

std::vector<std::filesystem::path> record_paths(const RunOptions& options) {
  std::vector<std::filesystem::path> paths;
  if (options.record) paths.emplace_back(*options.record);
  if (options.run_folder) paths.push_back(record::KeptFolder{*options.run_folder}.record_file());
  return paths;
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

/// What the ranks do not know of their record.
void complete(record::RunRecord& record, const RunOptions& options, plan::Plan plan) {
  plan::predict_time(plan);
  if (plan.time) record.time.predicted = plan.time->seconds;
  if (options.check && !record.broken_promises.empty()) record.exit = check_failed;
}

int verdict_on(const record::RunRecord& record, const RunOptions& options) {
  if (!options.check || record.broken_promises.empty()) return ok;
  return stop_with(check_failed, record::check_message(record.broken_promises));
}

void print_note(const std::string& line) {
  fmt::print(stderr, "note: {}\n", line);
}

/// Those that the run answers with a checkpoint and the end; none where it keeps no checkpoints.
std::vector<int> checkpoint_signals(const PreparedRun& prepared) {
  return prepared.run.checkpoints ? std::vector{SIGUSR1, SIGTERM} : std::vector<int>{};
}

/// Prints what has become of the ranks, and keeps the record.
int conclude(const RunOptions& options, const PreparedRun& prepared, record::RunRecord& record) {
  complete(record, options, *prepared.checked.plan);
  print_now(run_summary(record, prepared.data));
  for (const auto& path : record_paths(options))
    if (const auto written = record::write_run_record(path, record); !written)
      return stop_with(environment, written.error().message);
  const int verdict = verdict_on(record, options);
  return verdict == ok ? record.exit : verdict;
}

int run_threads(const RunOptions& options, const PreparedRun& prepared, const RunArchive& archive) {
  using End = launch::Outcome::End;
  ProgressBar bar(prepared.run.steps);
  const SignalFlag request(checkpoint_signals(prepared));
  const train::RunListener listener{.step =
                                        [&](const record::StepRecord& step) {
                                          bar.clear();
                                          print_now(step_line(step));
                                          bar.show(step.step);
                                        },
                                    .note = print_note,
                                    .stop_requested = [&] { return request.raised(); }};
  auto record = train::run_in_process(prepared.run, limit_of(options), listener, prepared.backend);
  bar.clear();
  if (!record) {
    archive.add_outcome({End::failed, {}}, record.error().message, rank_failed);
    return stop_with(rank_failed, record.error().message);
  }
  const End end = record->exit == train::checkpointed ? End::checkpointed : End::finished;
  const int code = conclude(options, prepared, *record);
  archive.add_outcome({end, {}}, "", code);
  return code;
}

/// This rank's number on its host.
int local_rank() {
  const auto place = cluster::read_environment(cluster::process_variables()).local_rank;
  return place ? static_cast<int>(place->number) : 0;
}

int run_rank(const RunOptions& options, const PreparedRun& prepared,
             const launch::RankIdentity& identity) {
  const train::WorkerSettings settings{
      .rank = identity.rank,
      .folder = identity.folder,
      .records = record_paths(options),
      .timeout = options.timeout ? std::optional(train::Seconds(*options.timeout)) : std::nullopt,
      .backend = prepared.backend,
      .local_rank = local_rank(),
      .complete = [&](record::RunRecord& record) {
        complete(record, options, *prepared.checked.plan);
      }};
  const train::RunListener listener{
      .step = [](const record::StepRecord& step) { print_now(step_line(step)); },
      .note = print_note};
  const auto record = train::run_mpi_worker(prepared.run, settings, listener);
  if (!record) return stop_with(environment, record.error().message);
  if (identity.rank == 0) print_now(run_summary(*record, prepared.data));
  // Who watches us has the last word; mpirun would take the code of one rank for its failure.
  if (identity.folder) return ok;
  const int verdict = identity.rank == 0 ? verdict_on(*record, options) : int{ok};
  return verdict == ok ? record->exit : verdict;
}

/// How the ranks ended, on standard error.
int report(const launch::Outcome& outcome, int world, ColorMode mode) {
  using End = launch::Outcome::End;
  switch (outcome.end) {
    case End::finished:
      return ok;
    case End::checkpointed:
      fmt::print(stderr, "stopped on request: all {} ranks wrote a checkpoint\n", world);
      return train::checkpointed;
    case End::interrupted:
      fmt::print(stderr, "interrupted: all {} ranks were stopped\n", world);
      return interrupted;
    case End::failed:
      break;
  }
  const diag::Diagnostics finding = {launch::to_diagnostic(*outcome.failure, world)};
  fmt::print(stderr, "{}", diag::render_text(finding, {}, color_of(Stream::standard_error, mode)));
  return rank_failed;
}

int verdict_of_ranks(const RunOptions& options, const launch::Outcome& outcome, int world,
                     const record::RunFolder& folder) {
  const int code = report(outcome, world, options.config.color);
  if (code != ok || !options.check) return code;
  const auto record = record::read_run_record(folder.record_file());
  if (!record) return stop_with(environment, record.error().message);
  return verdict_on(*record, options);
}

int launch_ranks(const RunOptions& options, const PreparedRun& prepared, RunArchive& archive) {
  const launch::StopRequest stop;
  const auto scratch = launch::ScratchFolder::create();
  if (!scratch) return stop_with(environment, scratch.error().message);
  const SignalFlag request(checkpoint_signals(prepared));
  ProgressBar bar(prepared.run.steps);
  const launch::Listener listener{
      .line =
          [&](int rank, launch::Stream stream, const std::string& line) {
            bar.clear();
            archive.add_line(rank, line);
            if (stream == launch::Stream::out) return print_now(line + "\n");
            fmt::print(stderr, "rank {}: {}\n", rank, line);
          },
      .progress = [&](Index step) { bar.show(step); },
      .stop_requested = [&] { return stop.made(); },
      .stop_repeated = [&] { return stop.repeated(); },
      .checkpoint_requested = [&] { return request.raised(); }};
  const int world = static_cast<int>(prepared.run.job.dims.world());
  launch::Supervision job{.world = world, .folder = scratch->folder()};
  if (options.timeout) job.start_limit = launch::Seconds(*options.timeout);
  const auto processes = launch::make_processes();
  const auto command = command_of(options, *prepared.checked.plan, scratch->folder());
  const auto outcome = launch::supervise(*processes, command, job, listener);
  bar.clear();
  if (!outcome) return stop_with(environment, outcome.error().message);
  const int code = verdict_of_ranks(options, *outcome, world, scratch->folder());
  const auto& failure = outcome->failure;
  archive.add_outcome(*outcome, failure ? launch::to_diagnostic(*failure, world).message : "",
                      code);
  return code;
}

/// Of the host's memory; arenas may be the devices'.
Demand demand_of(const PreparedRun& prepared) {
  const auto& plan = *prepared.checked.plan;
  const bool on_host = prepared.backend == device::Backend::cpu;
  return {static_cast<int>(plan.layout.dims.world()), on_host ? arenas_of(plan) : Bytes{}};
}

/// In a line: rank 0 or the launcher has found the same, or another config.
std::string first_error(const CheckedConfig& checked) {
  for (const auto& finding : checked.findings)
    if (finding.severity == diag::Severity::error) return finding.message;
  return fmt::format("{} is no config", checked.source.name());
}

/// The part that is the same for every role, and speaks for whoever is not a rank beside others.
int run_as(const RunOptions& options, const std::optional<launch::RankIdentity>& rank) {
  const bool speaks = !rank || (rank->rank == 0 && !rank->folder);
  auto checked = check_run_config(options);
  if (!checked) return stop_with(environment, checked.error().message);
  if (!checked->plan || exit_code_of(checked->findings) != ok) {
    if (!speaks) return stop_with(findings, first_error(*checked));
    print_verdict(*checked, options.config.color);
    return findings;
  }
  if (options.dry_run) return dry_run(options, *checked->plan);
  const auto backend = backend_of(options, *checked->plan);
  if (!backend) return stop_with(environment, backend.error().message);
  auto prepared = prepare_run(options, std::move(*checked));
  if (!prepared) return stop_with(prepared.error());
  prepared->backend = *backend;
  if (speaks) print_verdict(prepared->checked, options.config.color);
  if (speaks && !rank)
    if (const auto fits = check_memory(options, demand_of(*prepared)); !fits)
      return stop_with(findings, fits.error().message);
  if (speaks && !rank)
    if (const auto usable = train::check_checkpoints(prepared->run); !usable)
      return stop_with(environment, usable.error().message);
  auto archive = speaks ? RunArchive::open(options, *prepared->checked.plan) : RunArchive();
  if (!archive) return stop_with(environment, archive.error().message);
  if (speaks) print_now(run_header(*prepared, options.transport));
  if (options.transport == Transport::threads) return run_threads(options, *prepared, *archive);
  return rank ? run_rank(options, *prepared, *rank) : launch_ranks(options, *prepared, *archive);
}

}  // namespace

int run(const RunOptions& options) {
  if (const int usage = check_rank_flags("run", options); usage != ok) return usage;
  const auto rank = launch::started_as(cluster::process_variables());
  if (!rank) return stop_with(environment, rank.error().message);
  return run_as(options, *rank);
}

}  // namespace cpplan::app
