// Ranks of which the supervisor knows what they and their launcher print: rank 0 on this host, rank
// 1 on another one.
#include <doctest/doctest.h>

#include <csignal>
#include <map>
#include <set>

#include "launch/supervisor.hpp"

using namespace cpplan;
using namespace cpplan::launch;
using record::RankState;

namespace {

constexpr Seconds tick{0.05};

/// A launcher and two ranks that act out a script: what happens at which tick of a made-up clock.
class ScriptedHosts final : public Processes {
 public:
  std::map<int, std::function<void()>> script;
  std::optional<Exit> exit;
  std::set<int> gone;
  std::vector<int> signals;

  void report(int rank, RankState state, std::string group = "", std::string words = "") {
    record::RankStatus status;
    status.rank = rank, status.pid = 100 + rank, status.host = rank == 0 ? "here" : "there";
    status.state = state, status.step = 7, status.limit_seconds = 10, status.updates = 2 * ++said_;
    status.group = std::move(group), status.last_words = std::move(words);
    print("[1," + std::to_string(rank) +
          "]<stderr>:" + record::report_line({.status = status, .exit_code = exit_code}));
  }
  void print(std::string line) { printed_.push_back({Stream::error, std::move(line)}); }
  int exit_code = 0;

  Result<void> spawn(const Command&) override { return {}; }
  std::vector<OutputLine> output(Seconds limit) override {
    now_ += limit;
    if (const auto act = script.find(tick_++); act != script.end()) act->second();
    return std::exchange(printed_, {});
  }
  std::optional<Exit> ended() override { return exit; }
  void signal_launcher(int signal) override {
    if (exit) return;
    signals.push_back(signal);
    if (signal != SIGUSR1) exit = Exit{.code = 143, .signal = 0};
  }
  Life life(int pid, Index) override { return gone.contains(pid) ? Life::gone : Life::running; }
  void kill_rank(int pid, Index) override { gone.insert(pid); }
  Seconds now() override { return now_; }

 private:
  std::vector<OutputLine> printed_;
  int tick_ = 0;
  Index said_ = 0;
  Seconds now_{};
};

Outcome supervised(ScriptedHosts& hosts) {
  const Supervision job{.world = 2,
                        .folder = {},
                        .launcher = Launcher::mpirun,
                        .watched = record::WatchedThrough::output,
                        .host = "here"};
  return *supervise(hosts, {}, job, {});
}

int at(Seconds time) {
  return static_cast<int>(time / tick);
}

}  // namespace

TEST_CASE(
    "supervisor of hosts: a rank that the launcher saw die elsewhere is blamed before those here") {
  ScriptedHosts hosts;
  hosts.script[1] = [&] {
    hosts.report(0, RankState::waiting, "cp"), hosts.report(1, RankState::computing);
  };
  hosts.script[at(Seconds(1))] = [&] { hosts.gone.insert(100); };  // ended by the launcher
  hosts.script[at(Seconds(4))] = [&] {
    hosts.print("mpirun noticed that process rank 1 with PID 101 on node there exited on signal 9");
    hosts.exit = Exit{.code = 137, .signal = 0};
  };
  const Outcome outcome = supervised(hosts);
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->rank == 1);
  CHECK(outcome.failure->cause == Cause::died);
  CHECK(outcome.failure->exit == Exit{.code = 0, .signal = 9});
  CHECK(outcome.failure->status.host == "there");
  CHECK(hosts.signals.empty());
}

TEST_CASE("supervisor of hosts: a rank that is silent while another waited is blamed") {
  ScriptedHosts hosts;
  hosts.script[1] = [&] {
    hosts.report(0, RankState::computing), hosts.report(1, RankState::computing);
  };
  hosts.script[at(Seconds(5))] = [&] {
    hosts.report(0, RankState::failed, "cp", "waited too long for rank 1");
  };
  const Outcome outcome = supervised(hosts);
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->rank == 1);
  CHECK(outcome.failure->cause == Cause::silent);
  CHECK_FALSE(outcome.failure->exit);
  CHECK(hosts.signals == std::vector<int>{SIGTERM});
  CHECK(hosts.gone.contains(100));
  CHECK_FALSE(hosts.gone.contains(101));  // a process of this host with that id is another one
}

TEST_CASE("supervisor of hosts: a rank that says why it failed is believed at once") {
  ScriptedHosts hosts;
  hosts.script[1] = [&] {
    hosts.report(0, RankState::waiting, "cp");
    hosts.report(1, RankState::failed, "", "the loss is not finite");
  };
  const Outcome outcome = supervised(hosts);
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->rank == 1);
  CHECK(outcome.failure->last_words == "the loss is not finite");
  CHECK(hosts.now() < Seconds(1));
}

TEST_CASE("supervisor of hosts: an end in order brings the exit code that ranks report") {
  ScriptedHosts hosts;
  hosts.script[1] = [&] {
    hosts.exit_code = 5;
    hosts.report(0, RankState::finished), hosts.report(1, RankState::finished);
  };
  hosts.script[3] = [&] { hosts.exit = Exit{}; };
  const Outcome outcome = supervised(hosts);
  CHECK(outcome.end == Outcome::End::finished);
  CHECK(outcome.exit_code == 5);
}
