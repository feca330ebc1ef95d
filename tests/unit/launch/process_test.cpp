#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "launch/process.hpp"
#include "launch/stop_request.hpp"
#include "record/rank_status.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {

Command shell(const std::string& script) {
  return {{"sh", "-c", script}, {}};
}

/// Its lines until it has ended.
std::vector<OutputLine> all_output(Processes& processes) {
  std::vector<OutputLine> lines;
  const Seconds end = processes.now() + Seconds(10);
  for (bool last = false; !last && processes.now() < end;) {
    last = processes.ended().has_value();
    for (const OutputLine& line : processes.output(Seconds(0.02))) lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("process: its lines, its streams, its environment and its exit code") {
  const auto processes = make_processes();
  Command command = shell("echo one; echo \"two $ADDED\" >&2; printf three; exit 7");
  command.environment = {{"ADDED", "x y"}};
  REQUIRE(processes->spawn(command));
  const auto lines = all_output(*processes);
  REQUIRE(lines.size() == 3);
  CHECK(processes->ended() == Exit{.code = 7, .signal = 0});
  std::vector<std::string> out, error;
  for (const auto& line : lines) (line.stream == Stream::out ? out : error).push_back(line.text);
  CHECK(out == std::vector<std::string>{"one", "three"});
  CHECK(error == std::vector<std::string>{"two x y"});
}

TEST_CASE("process: a program that is not there is an error that names it") {
  const auto started = make_processes()->spawn({{"no-such-program-of-ours"}, {}});
  REQUIRE_FALSE(started);
  CHECK(started.error().message.find("no-such-program-of-ours") != std::string::npos);
}

TEST_CASE("process: a signal reaches the children of the launcher too") {
  const auto processes = make_processes();
  REQUIRE(processes->spawn(shell("sleep 100 & echo $!; wait")));
  std::vector<OutputLine> lines;
  while (lines.empty()) lines = processes->output(Seconds(1));
  const int child = std::atoi(lines[0].text.c_str());
  const Index ticks = *record::process_start_ticks(child);
  CHECK(processes->life(child, ticks) == Life::running);
  CHECK(processes->life(child, ticks + 1) == Life::gone);  // a reused id is another process
  processes->signal_launcher(SIGTERM);
  all_output(*processes);
  CHECK(processes->ended() == Exit{.code = 0, .signal = SIGTERM});
  for (int i = 0; i < 100 && processes->life(child, ticks) != Life::gone; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(processes->life(child, ticks) == Life::gone);
}

TEST_CASE("process: stopped and killed ranks are seen as such") {
  const auto processes = make_processes();
  REQUIRE(processes->spawn(shell("echo $$; exec sleep 100")));
  std::vector<OutputLine> lines;
  while (lines.empty()) lines = processes->output(Seconds(1));
  const int pid = std::atoi(lines[0].text.c_str());
  const Index ticks = *record::process_start_ticks(pid);
  const auto reaches = [&](Life life) {
    for (int i = 0; i < 100 && processes->life(pid, ticks) != life; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return processes->life(pid, ticks) == life;
  };
  kill(pid, SIGSTOP);
  CHECK(reaches(Life::stopped));
  processes->kill_rank(pid, ticks + 1);  // not that one
  CHECK(reaches(Life::stopped));
  processes->kill_rank(pid, ticks);
  CHECK(reaches(Life::gone));
}

TEST_CASE("stop request: made by a signal, while it lives") {
  const StopRequest request;
  CHECK_FALSE(request.made());
  std::raise(SIGINT);
  CHECK(request.made());
}
