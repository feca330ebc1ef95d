#include "app/supervised_run.hpp"

#include <fmt/format.h>

#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/progress_bar.hpp"
#include "app/run_steps.hpp"
#include "base/signal_flag.hpp"
#include "diag/rule_table.hpp"
#include "launch/scratch_folder.hpp"
#include "launch/stop_request.hpp"
#include "launch/supervisor.hpp"
#include "record/run_record.hpp"
#include "train/rank_loop.hpp"

namespace cpplan::app {
namespace {

/// How the ranks ended, on standard error.
int report(const launch::Outcome& outcome, int world, ColorMode mode) {
  using End = launch::Outcome::End;
  switch (outcome.end) {
    case End::finished:
      return outcome.exit_code;
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

int verdict_of_ranks(const RunOptions& options, const launch::Outcome& outcome,
                     const launch::Supervision& job) {
  const int code = report(outcome, job.world, options.config.color);
  const bool judged = !options.check || job.watched == record::WatchedThrough::output;
  if (code != ok || judged) return code;
  const auto record = record::read_run_record(job.folder.record_file());
  if (!record) return stop_with(environment, record.error().message);
  return verdict_on(*record, options);
}

/// No rank has run.
int not_started(const RunArchive& archive, const Error& error) {
  archive.add_outcome({launch::Outcome::End::failed, {}}, error.message, environment);
  return stop_with(environment, error.message);
}

}  // namespace

int supervise_ranks(const RunOptions& options, const PreparedRun& prepared, const RankLaunch& how,
                    RunArchive& archive) {
  const launch::StopRequest stop;
  const auto scratch = launch::ScratchFolder::create();
  if (!scratch) return not_started(archive, scratch.error());
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
  launch::Supervision job{.world = world,
                          .folder = scratch->folder(),
                          .launcher = how.launcher,
                          .watched = how.watched,
                          .host = how.host};
  if (options.timeout) job.start_limit = launch::Seconds(*options.timeout);
  const auto processes = launch::make_processes();
  const auto command = command_of(how, options, scratch->folder());
  if (!command) return not_started(archive, command.error());
  const auto outcome = launch::supervise(*processes, *command, job, listener);
  bar.clear();
  if (!outcome) return not_started(archive, outcome.error());
  const int code = verdict_of_ranks(options, *outcome, job);
  const auto& failure = outcome->failure;
  archive.add_outcome(*outcome, failure ? launch::to_diagnostic(*failure, world).message : "",
                      code);
  return code;
}

}  // namespace cpplan::app
