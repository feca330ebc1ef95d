#include <doctest/doctest.h>

#include <map>

#include "launch/rank_watch.hpp"

using namespace cpplan;
using namespace cpplan::launch;
using record::RankState;

namespace {

/// Of the operating system, a clock and what became of the processes of this host.
class ActedProcesses final : public Processes {
 public:
  Seconds clock{};
  std::map<int, Life> lives;
  std::vector<int> killed;

  Result<void> spawn(const Command&) override { return {}; }
  std::vector<OutputLine> output(Seconds) override { return {}; }
  std::optional<Exit> ended() override { return {}; }
  void signal_launcher(int) override {}
  Life life(int pid, Index) override { return lives.contains(pid) ? lives[pid] : Life::running; }
  void kill_rank(int pid, Index) override { killed.push_back(pid); }
  Seconds now() override { return clock; }
};

std::string report(int rank, const std::string& host, Index updates,
                   RankState state = RankState::computing, int exit_code = 0) {
  record::RankStatus status;
  status.rank = rank, status.pid = 100 + rank, status.host = host;
  status.state = state, status.step = 1, status.updates = updates;
  return record::report_line({.status = status, .exit_code = exit_code});
}

/// Rank 0 on this host, rank 1 elsewhere; both have spoken.
struct Watched {
  ActedProcesses processes;
  std::unique_ptr<RankWatch> watch = watch_output(processes, 2, "here");

  Watched() {
    CHECK(watch->take(0, report(0, "here", 2)));
    CHECK(watch->take(1, report(1, "there", 2)));
  }
  const RankView& look(int rank, Seconds at) {
    processes.clock = at;
    watch->look();
    return watch->views()[static_cast<std::size_t>(rank)];
  }
};

}  // namespace

TEST_CASE("output watch: words that are no report are passed on") {
  Watched job;
  CHECK_FALSE(job.watch->take(0, "loss 5.5"));
  CHECK(job.look(1, Seconds(1)).status->step == 1);
}

TEST_CASE("output watch: a rank elsewhere is silent once nothing is heard of it") {
  Watched job;
  CHECK(job.look(1, Seconds(3)).life == Life::running);
  CHECK(job.watch->take(1, report(1, "there", 2)));  // still there, with nothing new to say
  CHECK(job.look(1, Seconds(6)).life == Life::running);
  CHECK(job.look(1, Seconds(6)).unchanged == Seconds(6));
  CHECK(job.look(1, Seconds(8)).life == Life::silent);
}

TEST_CASE("output watch: of this host the processes are seen as such") {
  Watched job;
  job.processes.lives[100] = Life::stopped;
  CHECK(job.look(0, Seconds(9)).life == Life::stopped);
  job.processes.lives[101] = Life::gone;  // another process of this host, with that id
  CHECK(job.look(1, Seconds(1)).life == Life::running);
}

TEST_CASE("output watch: last words come after the end of their process") {
  Watched job;
  CHECK(job.look(0, Seconds(1)).life == Life::running);
  job.processes.lives[100] = Life::gone;
  CHECK(job.look(0, Seconds(1.5)).life == Life::running);
  CHECK(job.watch->take(0, report(0, "here", 4, RankState::finished, 5)));
  CHECK(job.look(0, Seconds(3)).life == Life::gone);
  CHECK(job.look(0, Seconds(3)).status->state == RankState::finished);
  CHECK(job.watch->exit_code() == 5);
}

TEST_CASE("output watch: it kills what is on this host alone") {
  Watched job;
  job.watch->kill_ranks();
  CHECK(job.processes.killed == std::vector<int>{100});
  job.processes.lives[100] = Life::gone;
  CHECK_FALSE(job.watch->any_rank_lives());
}
