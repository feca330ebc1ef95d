#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <set>

#include "launch/scratch_folder.hpp"
#include "launch/supervisor.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {

/// A launcher and two ranks that act out a script: what happens at which tick of a made-up clock.
class ScriptedProcesses final : public Processes {
 public:
  std::map<int, std::function<void()>> script;
  std::vector<OutputLine> printed;
  std::optional<Exit> exit;
  std::set<int> gone, stopped;
  bool stubborn = false;  // the launcher ignores SIGTERM and the end of its ranks
  std::vector<int> signals;
  std::set<int> killed;
  bool absent = false;

  Result<void> spawn(const Command&) override {
    if (absent) return failure("cannot start \"mpirun\" (No such file or directory)");
    return {};
  }
  std::vector<OutputLine> output(Seconds limit) override {
    now_ += limit;
    if (const auto act = script.find(tick_++); act != script.end()) act->second();
    return std::exchange(printed, {});
  }
  std::optional<Exit> ended() override { return exit; }
  void signal_launcher(int signal) override {
    if (exit) return;
    signals.push_back(signal);
    if (signal == SIGUSR1) return;  // passed on to the ranks
    if (signal == SIGKILL || !stubborn) exit = Exit{.code = 0, .signal = signal};
  }
  Life life(int, Index ticks) override {
    const int rank = ranks_of_ticks.at(ticks);
    return gone.contains(rank)      ? Life::gone
           : stopped.contains(rank) ? Life::stopped
                                    : Life::running;
  }
  void kill_rank(int, Index ticks) override {
    const int rank = ranks_of_ticks.at(ticks);
    if (gone.contains(rank)) return;
    killed.insert(rank), gone.insert(rank);
    if (!stubborn && !exit) {
      printed.push_back({Stream::error, notice});
      exit = Exit{.code = 137, .signal = 0};
    }
  }
  Seconds now() override { return now_; }

  std::map<Index, int> ranks_of_ticks;
  std::string notice;

 private:
  int tick_ = 0;
  Seconds now_{};
};

/// Two ranks of this very process: their status files are real.
struct Job {
  ScratchFolder scratch = *ScratchFolder::create();
  ScriptedProcesses processes;
  std::vector<record::StatusFile> ranks;
  std::vector<std::string> lines;
  bool stop = false, stop_again = false, checkpoint = false;

  Job() {
    const Index ticks = *record::process_start_ticks(getpid());
    processes.ranks_of_ticks[ticks] = 0;
    processes.script[0] = [this] { start_rank(0); };
  }

  void start_rank(int rank) {
    ranks.push_back(*record::StatusFile::create(scratch.folder().status_file(rank), rank));
    ranks.back().begin_step(1, Seconds(3));
    ranks.back().computing("gemm");
  }

  Result<Outcome> supervised(int world = 1) {
    const Listener listener{.line =
                                [this](int rank, Stream, const std::string& line) {
                                  lines.push_back(std::to_string(rank) + ": " + line);
                                },
                            .progress = {},
                            .stop_requested = [this] { return stop; },
                            .stop_repeated = [this] { return stop_again; },
                            .checkpoint_requested = [this] { return checkpoint; }};
    const Supervision job{.world = world, .folder = scratch.folder(), .start_limit = Seconds(300)};
    return supervise(processes, {}, job, listener);
  }
};

}  // namespace

TEST_CASE("supervisor: a job that ends well, its lines passed on") {
  Job job;
  job.processes.script[2] = [&] {
    job.processes.printed = {{Stream::out, "[1,0]<stdout>:loss 5.5"}, {Stream::error, "noise"}};
  };
  job.processes.script[4] = [&] {
    job.ranks[0].finished();
    job.processes.gone.insert(0), job.processes.exit = Exit{};
  };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  CHECK(outcome->end == Outcome::End::finished);
  CHECK(job.lines == std::vector<std::string>{"0: loss 5.5"});
  CHECK(job.processes.signals.empty());
}

TEST_CASE("supervisor: a request for a checkpoint is passed on once and ends the job in order") {
  Job job;
  job.processes.script[2] = [&] { job.checkpoint = true; };
  job.processes.script[6] = [&] {
    job.ranks[0].checkpointed();
    job.processes.gone.insert(0), job.processes.exit = Exit{};
  };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  CHECK(outcome->end == Outcome::End::checkpointed);
  CHECK(job.processes.signals == std::vector<int>{SIGUSR1});
}

TEST_CASE("supervisor: no mpirun is an expected failure") {
  Job job;
  job.processes.absent = true;
  CHECK_FALSE(job.supervised());
}

TEST_CASE("supervisor: mpirun that refuses to start ranks is quoted") {
  Job job;
  job.processes.script.clear();
  job.processes.script[1] = [&] {
    job.processes.printed = {{Stream::error, "There are not enough slots available"}};
    job.processes.exit = Exit{.code = 1, .signal = 0};
  };
  const auto outcome = job.supervised();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().message.find("not enough slots") != std::string::npos);
}

TEST_CASE("supervisor: a killed rank ends the job and mpirun tells by which signal") {
  Job job;
  job.processes.script[3] = [&] {
    job.processes.gone.insert(0);
    job.processes.printed = {{Stream::error, "[1,0]<stderr>:about to divide"}};
  };
  job.processes.script[5] = [&] {
    job.processes.printed = {{Stream::error,
                              "mpirun noticed that process rank 0 with PID 0 on node vm exited on "
                              "signal 9 (Killed)."}};
    job.processes.exit = Exit{.code = 137, .signal = 0};
  };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->end == Outcome::End::failed);
  CHECK(outcome->failure->rank == 0);
  CHECK(outcome->failure->exit == Exit{.code = 0, .signal = 9});
  CHECK(outcome->failure->last_words == "about to divide");
  CHECK(outcome->failure->status.operation == "gemm");
}

TEST_CASE("supervisor: last words of a rank end it and all others") {
  Job job;
  job.processes.notice =
      "mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 9";
  job.processes.script[3] = [&] { job.ranks[0].failed("the loss is not finite"); };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->cause == Cause::failed);
  CHECK(outcome->failure->last_words == "the loss is not finite");
  CHECK_FALSE(outcome->failure->exit);  // that signal was ours
  CHECK(job.processes.killed == std::set<int>{0});
}

TEST_CASE("supervisor: a hang ends after the rank's own limit though nobody says a word") {
  Job job;
  job.processes.script[2] = [&] { job.ranks[0].waiting("pp", "exchange"); };
  job.processes.script[3] = [&] { job.processes.stopped.insert(0); };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->cause == Cause::stopped);
  CHECK(job.processes.now() < Seconds(5));
  CHECK(job.processes.killed == std::set<int>{0});
}

TEST_CASE("supervisor: a launcher that does not end is killed in the end") {
  Job job;
  job.processes.stubborn = true;
  job.processes.script[2] = [&] { job.processes.gone.insert(0); };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  CHECK(outcome->end == Outcome::End::failed);
  CHECK(job.processes.signals == std::vector<int>{SIGTERM, SIGKILL});
  CHECK(job.processes.now() < Seconds(4.5));
}

TEST_CASE("supervisor: a launcher that was killed is blamed itself and its ranks are ended") {
  Job job;
  job.processes.script[3] = [&] { job.processes.exit = Exit{.code = 0, .signal = SIGKILL}; };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->cause == Cause::launcher);
  CHECK(job.processes.killed == std::set<int>{0});
}

TEST_CASE("supervisor: ranks that die with their launcher are not the cause") {
  Job job;
  job.processes.script[3] = [&] { job.processes.gone.insert(0); };
  job.processes.script[4] = [&] { job.processes.exit = Exit{.code = 0, .signal = SIGKILL}; };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->cause == Cause::launcher);
}

TEST_CASE("supervisor: a rank that dies before its first word is known from mpirun") {
  Job job;
  job.processes.script.clear();
  job.processes.script[2] = [&] {
    job.processes.printed = {{Stream::error, "[1,0]<stderr>:libdnnl.so.2: cannot open"},
                             {Stream::error, "  Process name: [[23032,1],0]"},
                             {Stream::error, "  Exit code:    127"}};
    job.processes.exit = Exit{.code = 127, .signal = 0};
  };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->rank == 0);
  CHECK(outcome->failure->exit == Exit{.code = 127, .signal = 0});
  CHECK(to_diagnostic(*outcome->failure, 1).message ==
        "rank 0 exited with 127 before it could say where");
}

TEST_CASE("supervisor: a request to stop ends the job in order") {
  Job job;
  job.processes.script[3] = [&] { job.stop = true; };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  CHECK(outcome->end == Outcome::End::interrupted);
  CHECK_FALSE(outcome->failure);
  CHECK(job.processes.killed == std::set<int>{0});
}

TEST_CASE("supervisor: who asks a second time does not wait for a launcher that takes its time") {
  Job job;
  job.processes.stubborn = true;
  job.processes.script[3] = [&] { job.stop = true; };
  job.processes.script[6] = [&] { job.stop_again = true; };
  const auto outcome = job.supervised();
  REQUIRE(outcome);
  CHECK(outcome->end == Outcome::End::interrupted);
  CHECK(job.processes.signals == std::vector<int>{SIGTERM, SIGKILL});
  CHECK(job.processes.now() < Seconds(1));
}

TEST_CASE("supervisor: a rank that never came to its first word is blamed for those that did") {
  Job job;
  job.processes.script[3] = [&] { job.processes.gone.insert(0); };
  job.processes.script[4] = [&] {
    job.processes.printed = {{Stream::error, "[1,1]<stderr>:error: no text to train on"},
                             {Stream::error, "  Process name: [[23032,1],1]"},
                             {Stream::error, "  Exit code:    3"}};
    job.processes.exit = Exit{.code = 3, .signal = 0};
  };
  const auto outcome = job.supervised(2);
  REQUIRE(outcome);
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->last_words == "error: no text to train on");
  CHECK(to_diagnostic(*outcome->failure, 2).message ==
        "rank 1 exited with 3 before it could say where; the other 1 were stopped");
}
