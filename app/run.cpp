// One subcommand, three roles: the launcher of ranks, a rank, and all ranks as threads.
#include <fmt/format.h>

#include <filesystem>

#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/progress_bar.hpp"
#include "app/run_archive.hpp"
#include "app/run_steps.hpp"
#include "app/run_text.hpp"
#include "app/subcommands.hpp"
#include "app/supervised_run.hpp"
#include "app/usage.hpp"
#include "base/signal_flag.hpp"
#include "diag/rule_table.hpp"
#include "launch/binding.hpp"
#include "launch/started_as.hpp"
#include "launch/supervisor.hpp"
#include "plan/make_plan.hpp"
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

/// What the ranks do not know of their record.
void complete(record::RunRecord& record, const RunOptions& options, plan::Plan plan) {
  plan::predict_time(plan);
  if (plan.time) record.time.predicted = plan.time->seconds;
  if (options.check && !record.broken_promises.empty()) record.exit = check_failed;
}

void print_note(const std::string& line) {
  fmt::print(stderr, "note: {}\n", line);
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

/// This rank's number on its host, as whoever started it says; not LOCAL_RANK, which may be left
/// over in a shell.
int local_rank() {
  const auto place = launch::local_place(cluster::process_variables());
  return place ? static_cast<int>(place->rank) : 0;
}

/// Whoever else started us has bound us as they like.
void bind_here() {
  if (const auto place = launch::local_place(cluster::process_variables()))
    launch::bind_to_numa_node(*place, cluster::numa_nodes());
}

int run_rank(const RunOptions& options, const PreparedRun& prepared,
             const launch::RankIdentity& identity, const RunArchive& archive) {
  if (identity.watched != record::WatchedThrough::nobody) bind_here();
  const train::WorkerSettings settings{
      .rank = identity.rank,
      .watched = identity.watched,
      .folder = identity.folder,
      .records = record_paths(options),
      .timeout = options.timeout ? std::optional(train::Seconds(*options.timeout)) : std::nullopt,
      .backend = prepared.backend,
      .transport = device_transport(options.transport),
      .local_rank = local_rank(),
      .complete = [&](record::RunRecord& record) {
        complete(record, options, *prepared.checked.plan);
      }};
  const train::RunListener listener{
      .step = [](const record::StepRecord& step) { print_now(step_line(step)); },
      .note = print_note};
  const auto record = train::run_mpi_worker(prepared.run, settings, listener);
  if (!record) {
    archive.add_outcome({launch::Outcome::End::failed, {}}, record.error().message, environment);
    return stop_with(environment, record.error().message);
  }
  if (identity.rank == 0) print_now(run_summary(*record, prepared.data));
  const bool judges = identity.rank == 0 && identity.watched != record::WatchedThrough::folder;
  const int verdict = judges ? verdict_on(*record, options) : int{ok};
  // Who watches us has the last word; mpirun would take the code of one rank for its failure.
  if (identity.watched != record::WatchedThrough::nobody) return ok;
  return verdict == ok ? record->exit : verdict;
}

/// Of the memory of this host, by the ranks on it; arenas may be the devices'.
Demand demand_of(const PreparedRun& prepared, Index ranks) {
  const auto& plan = *prepared.checked.plan;
  const bool on_host = prepared.backend == device::Backend::cpu;
  const Bytes of_all = on_host ? arenas_of(plan) : Bytes{};
  return {static_cast<int>(ranks), Bytes{of_all.count / plan.layout.dims.world() * ranks}};
}

/// What would end the run once it has begun.
int look_ahead(const RunOptions& options, const PreparedRun& prepared, Index ranks_here) {
  const auto demand = demand_of(prepared, ranks_here);
  if (const auto fits = check_memory(options, demand); !fits)
    return stop_with(findings, fits.error().message);
  if (const auto usable = train::check_checkpoints(prepared.run); !usable)
    return stop_with(environment, usable.error().message);
  return ok;
}

int run_launcher(const RunOptions& options, const PreparedRun& prepared) {
  const auto how = choose_launch(options, *prepared.checked.plan);
  if (!how) return stop_with(environment, how.error().message);
  const layout::Ranks ranks(prepared.run.job.dims, prepared.run.job.order);
  const auto torn = launch::check_placement(how->placement, ranks);
  fmt::print(stderr, "{}",
             diag::render_text(torn, {}, color_of(Stream::standard_error, options.config.color)));
  if (const int code = look_ahead(options, prepared, how->ranks_here()); code != ok) return code;
  auto archive = RunArchive::open(options, *prepared.checked.plan);
  if (!archive) return stop_with(environment, archive.error().message);
  print_now(run_header(prepared, options.transport));
  return supervise_ranks(options, prepared, *how, *archive);
}

int run_in_threads(const RunOptions& options, const PreparedRun& prepared) {
  const Index world = prepared.run.job.dims.world();
  if (const int code = look_ahead(options, prepared, world); code != ok) return code;
  const auto archive = RunArchive::open(options, *prepared.checked.plan);
  if (!archive) return stop_with(environment, archive.error().message);
  print_now(run_header(prepared, options.transport));
  return run_threads(options, prepared, *archive);
}

/// A rank that somebody else started; rank 0 speaks for all unless someone watches us.
int run_as_rank(const RunOptions& options, const PreparedRun& prepared,
                const launch::RankIdentity& rank, bool speaks) {
  auto archive = speaks ? RunArchive::open(options, *prepared.checked.plan) : RunArchive();
  if (!archive) return stop_with(environment, archive.error().message);
  if (speaks) print_now(run_header(prepared, options.transport));
  using End = launch::Outcome::End;
  const int code = run_rank(options, prepared, rank, *archive);
  const End end = code == train::checkpointed ? End::checkpointed : End::finished;
  if (code != environment) archive->add_outcome({end, {}}, "", code);
  return code;
}

/// A rank that cannot start says why to whoever watches it, too.
int refuse(const std::optional<launch::RankIdentity>& rank, int exit_code,
           const std::string& words) {
  if (rank)
    train::refuse_to_start({.rank = rank->rank, .watched = rank->watched, .folder = rank->folder},
                           words);
  return stop_with(exit_code, words);
}

/// The part that is the same for every role, and speaks for whoever is not a rank beside others.
int run_as(const RunOptions& options, const std::optional<launch::RankIdentity>& rank) {
  const bool speaks = !rank || (rank->rank == 0 && rank->watched == record::WatchedThrough::nobody);
  auto checked = check_run_config(options);
  if (!checked) return refuse(rank, environment, checked.error().message);
  if (!checked->plan || exit_code_of(checked->findings) != ok) {
    if (!speaks) return refuse(rank, findings, first_error(*checked));
    print_verdict(*checked, options.config.color);
    return findings;
  }
  if (options.dry_run) return dry_run(options, *checked->plan);
  const auto backend = backend_of(options, *checked->plan);
  if (!backend) return refuse(rank, environment, backend.error().message);
  if (const auto carried = check_transport(options, *backend); !carried)
    return refuse(rank, environment, carried.error().message);
  auto prepared = prepare_run(options, std::move(*checked));
  if (!prepared && rank) return refuse(rank, prepared.error().exit_code, prepared.error().message);
  if (!prepared) return stop_with(prepared.error(), options.config.color);
  prepared->backend = *backend;
  if (speaks) print_verdict(prepared->checked, options.config.color);
  if (options.transport == Transport::threads) return run_in_threads(options, *prepared);
  if (!rank) return run_launcher(options, *prepared);
  return run_as_rank(options, *prepared, *rank, speaks);
}

int check_launch_flags(const RunOptions& options) {
  if (options.hosts && options.hostfile)
    return usage_error("run", "--hosts and --hostfile both name hosts. use one of them");
  if (options.format == RunFormat::json && !options.dry_run)
    return usage_error("run",
                       "--format json is of --dry-run. a run leaves JSON with --record FILE");
  const bool hosts = options.hosts || options.hostfile;
  if (hosts && options.transport == Transport::threads)
    return usage_error("run", "threads are on this host alone. leave --hosts out");
  return ok;
}

}  // namespace

int run(const RunOptions& options) {
  if (const int usage = check_rank_flags("run", options); usage != ok) return usage;
  if (const int usage = check_launch_flags(options); usage != ok) return usage;
  const auto rank = launch::started_as(cluster::process_variables());
  if (!rank) return stop_with(environment, rank.error().message);
  if (*rank && (*rank)->watched != record::WatchedThrough::nobody) train::follow_the_launcher();
  return run_as(options, *rank);
}

}  // namespace cpplan::app
