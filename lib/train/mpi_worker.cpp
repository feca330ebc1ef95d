#include "train/mpi_worker.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "base/failure.hpp"
#include "base/files.hpp"
#include "base/signal_flag.hpp"
#include "engine/groups.hpp"
#include "train/agreement.hpp"
#include "train/crash_words.hpp"
#include "train/status_reporter.hpp"
#include "train/status_trace.hpp"

namespace cpplan::train {
namespace {

/// Of Open MPI on a host whose network is gone: it waits for an order to end us that cannot come,
/// and would outlive us. SLURM's needs no such help.
void end_unreachable_daemon() {
  const auto name = read_file(fmt::format("/proc/{}/comm", getppid()));
  if (name && *name == "orted\n") kill(getppid(), SIGKILL);
}

Result<std::optional<record::StatusFile>> make_status(const WorkerSettings& settings) {
  if (settings.watched == record::WatchedThrough::nobody) return std::nullopt;
  if (settings.watched == record::WatchedThrough::output)
    return record::StatusFile::in_memory(settings.rank);
  auto file =
      record::StatusFile::create(settings.folder->status_file(settings.rank), settings.rank);
  if (!file) return tl::unexpected(file.error());
  return std::move(*file);
}

class Worker final : public StepObserver {
 public:
  Worker(const TrainingRun& run, const WorkerSettings& settings, const RunListener& listener,
         std::optional<record::StatusFile> status)
      : run_(run),
        settings_(settings),
        listener_(listener),
        status_(std::move(status)),
        trace_(status_ ? &*status_ : nullptr),
        crash_words_(settings.rank, status_ ? &*status_ : nullptr) {
    // Without a checkpoint to write, a signal ends us as it ends any program.
    if (run.checkpoints)
      stop_.emplace(watched() ? std::vector{SIGUSR1} : std::vector{SIGUSR1, SIGTERM});
    if (settings.watched == record::WatchedThrough::output)
      reporter_.emplace(*status_, write_line_to_stderr);
  }

  record::RunRecord run() {
    const StepLimit limit(settings_.timeout);
    if (status_) status_->waiting("world", "MPI_Init");
    try {
      comm::MpiWorld world(watchdog_, {.deadline = to_milliseconds(limit.of_wait())});
      return run_in(world, limit);
    } catch (const Failure& failure) {  // of MPI_Init or MPI_Finalize
      give_up(failure.what());
      _exit(rank_failed);
    }
  }

  /// After the last word of MPI.
  void report_end(int exit_code) {
    if (reporter_) reporter_->report_end(exit_code);
  }

  void begins(Index step, const StepLimit& limit) override {
    step_ = step;
    watch_.reset();
    watch_.emplace(watchdog_, fmt::format("step {}", step), to_milliseconds(limit.of_step()));
    if (status_) status_->begin_step(step, limit.of_wait());
  }

  void ended(const record::StepRecord& step) override {
    partial_.steps.push_back(step);
    if (settings_.rank == 0 && listener_.step) listener_.step(step);
  }

  void saving(const StepLimit& limit) override {
    watch_.reset();
    watch_.emplace(watchdog_, "waiting for the disk", to_milliseconds(limit.of_step()));
  }

  /// Until the next step the launcher is as patient as the ranks are with each other.
  void gathering(Seconds limit) override {
    watch_.reset();
    watch_.emplace(watchdog_, "waiting for rank 0 to write", to_milliseconds(2 * limit));
    if (status_) status_->begin_step(step_, limit);
  }

  void notes(const std::string& line) override {
    if (listener_.note) listener_.note(line);
  }

  bool stop_requested() override { return stop_ && stop_->raised(); }

 private:
  bool watched() const { return settings_.watched != record::WatchedThrough::nobody; }

  /// The watch of a step begins when it is made and is called off with it.
  struct StepWatch {
    StepWatch(comm::Watchdog& dog, std::string what, std::chrono::milliseconds limit)
        : watch(dog.watch(std::move(what), limit)) {}
    comm::Watchdog::Watch watch;
  };

  Facts facts() const {
    Facts facts = facts_of(run_);
    facts.push_back({"backend", std::string(device::name_of(settings_.backend))});
    facts.push_back({"transport", std::string(name_of(settings_.transport))});
    return facts;
  }

  record::RunRecord run_in(comm::MpiWorld& world, StepLimit limit) {
    try {
      if (status_) status_->computing("set-up");
      const layout::Ranks ranks(run_.job.dims, run_.job.order);
      if (world.size() != ranks.world())
        throw Failure(fmt::format("{} ranks were started for a plan of {}. Use mpirun -n {}",
                                  world.size(), ranks.world(), ranks.world()));
      agree_on(facts(), world, trace_);
      auto& endpoint = world.endpoint();
      const auto ops = device::make_ops(settings_.backend, trace_, settings_.local_rank,
                                        [&endpoint] { endpoint.progress(); });
      const Connections connections(host_side(world, ranks), ops->device(), trace_,
                                    {.ranks = ranks,
                                     .groups = engine::group_settings(run_.job),
                                     .wanted = settings_.transport});
      tell_of(connections);
      auto record = train_rank(
          run_, {world.rank(), *ops, connections.groups(), endpoint, Process::own, &trace_.clock()},
          limit, *this);
      watch_.reset();
      if (status_) record.exit == checkpointed ? status_->checkpointed() : status_->finished();
      record.backend = device::name_of(settings_.backend);
      record.transport = connections.transport();
      return record;
    } catch (const Failure& failure) {
      watch_.reset();
      if (failure.role == Failure::Role::witness) leave_the_word();
      give_up(failure.what());
      world.abort(rank_failed);
    } catch (const std::exception& exception) {  // no memory, say
      watch_.reset();
      give_up(fmt::format("an unexpected exception: {}", exception.what()));
      world.abort(rank_failed);
    }
  }

  HostSide host_side(comm::MpiWorld& world, const layout::Ranks& ranks) const {
    const auto make_groups = [&world, &ranks, this](kernels::Trace& trace) {
      return comm::make_mpi_groups(world, ranks, trace, engine::group_settings(run_.job));
    };
    return {.transport = "mpi",
            .host = world.host_name(),
            .rank = world.rank(),
            .endpoint = world.endpoint(),
            .make_groups = make_groups};
  }

  void tell_of(const Connections& connections) {
    partial_.transport = connections.transport();
    if (settings_.rank == 0 && !connections.note().empty()) notes(connections.note());
  }

  /// Leaves the last words and what the run had come to. Watched ranks then stand still until the
  /// launcher, which has seen all of them, ends the job.
  void give_up(const std::string& words) {
    record_failure();
    if (!status_) {
      std::fprintf(stderr, "cpplan: rank %d failed in step %lld: %s\n", settings_.rank,
                   static_cast<long long>(step_), words.c_str());
      return;
    }
    leave(words);
    std::this_thread::sleep_for(std::chrono::seconds(10));
    if (reporter_) end_unreachable_daemon();
  }

  void leave(const std::string& words) {
    status_->failed(words);
    if (reporter_) reporter_->report_now();
  }

  /// To the rank whose doing it is: one account of it is enough.
  void leave_the_word() {
    record_failure();
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }

  void record_failure() {
    if (settings_.rank != 0) return;
    partial_.dims = run_.job.dims, partial_.order = run_.job.order;
    partial_.backend = device::name_of(settings_.backend);
    if (partial_.transport.empty()) partial_.transport = "mpi";
    partial_.exit = rank_failed;
    for (const auto& path : settings_.records)
      if (const auto written = record::write_run_record(path, partial_); !written)
        std::fprintf(stderr, "cpplan: %s\n", written.error().message.c_str());
  }

  /// On the watchdog's thread, with two seconds to go.
  void say_last_words(const std::string& what, std::chrono::milliseconds limit) {
    const auto words = fmt::format("{} did not end within {:g} s", what,
                                   std::chrono::duration<double>(limit).count());
    if (!status_) {
      std::fprintf(stderr, "cpplan: rank %d: %s\n", settings_.rank, words.c_str());
      return;
    }
    if (what.starts_with("MPI_")) status_->waiting("world", what);  // all ranks come together there
    leave(words);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // the launcher looks first
  }

  const TrainingRun& run_;
  const WorkerSettings& settings_;
  const RunListener& listener_;
  std::optional<SignalFlag> stop_;
  std::optional<record::StatusFile> status_;
  StatusTrace trace_;
  CrashWords crash_words_;
  std::optional<StatusReporter> reporter_;
  record::RunRecord partial_;
  Index step_ = 0;
  comm::Watchdog watchdog_{[this](const std::string& what, std::chrono::milliseconds limit) {
    say_last_words(what, limit);
  }};
  std::optional<StepWatch> watch_;
};

}  // namespace

void follow_the_launcher() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGTERM, SIG_IGN);
}

void refuse_to_start(const WorkerSettings& settings, std::string_view words) {
  auto status = make_status(settings);
  if (!status || !*status) return;
  (*status)->failed(words);
  if (settings.watched == record::WatchedThrough::output)
    StatusReporter(**status, write_line_to_stderr).report_now();
}

Result<record::RunRecord> run_mpi_worker(const TrainingRun& run, const WorkerSettings& settings,
                                         const RunListener& listener) {
  auto status = make_status(settings);
  if (!status) return tl::unexpected(status.error());
  Worker worker(run, settings, listener, std::move(*status));
  auto record = worker.run();
  if (settings.rank == 0 && settings.complete) settings.complete(record);
  worker.report_end(record.exit);
  if (settings.rank != 0) return record;
  for (const auto& path : settings.records)
    if (const auto written = record::write_run_record(path, record); !written)
      return tl::unexpected(written.error());
  if (settings.folder)
    if (const auto written = record::write_run_record(settings.folder->record_file(), record);
        !written)
      return tl::unexpected(written.error());
  return record;
}

}  // namespace cpplan::train
