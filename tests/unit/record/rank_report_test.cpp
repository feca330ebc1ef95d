#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "record/rank_report.hpp"

using namespace cpplan;
using namespace cpplan::record;

TEST_CASE("rank report: a launcher reads what the rank wrote") {
  StatusFile status = StatusFile::in_memory(3);
  status.begin_step(12, std::chrono::seconds(60));
  status.waiting("dp_cp", "all_reduce");
  const RankReport told{.status = status.read(), .exit_code = 5};
  const auto heard = parse_report(report_line(told));
  REQUIRE(heard);
  CHECK(heard->status.rank == 3);
  CHECK(heard->status.pid == getpid());
  CHECK(heard->status.start_ticks == *process_start_ticks(getpid()));
  CHECK(heard->status.host == told.status.host);
  CHECK(heard->status.state == RankState::waiting);
  CHECK(heard->status.step == 12);
  CHECK(heard->status.group == "dp_cp");
  CHECK(heard->status.operation == "all_reduce");
  CHECK(heard->status.since == told.status.since);
  CHECK(heard->status.limit_seconds == 60);
  CHECK(heard->status.updates == told.status.updates);
  CHECK(heard->exit_code == 5);
}

TEST_CASE("rank report: is one line that no launcher cuts") {
  StatusFile status = StatusFile::in_memory(0);
  status.failed("first\nsecond \x01 " + std::string(700, '"'));
  const std::string line = report_line({.status = status.read()});
  CHECK(line.size() <= longest_report);
  CHECK(line.find('\n') == line.npos);
  const auto heard = parse_report(line);
  REQUIRE(heard);
  CHECK(heard->status.state == RankState::failed);
  CHECK(heard->status.last_words.find("first\nsecond") == 0);
}

TEST_CASE("rank report: other lines are none") {
  CHECK_FALSE(parse_report("loss 5.5"));
  CHECK_FALSE(parse_report("@cpplan-rank {}"));
  CHECK_FALSE(parse_report("@cpplan-rank [1]"));
  CHECK_FALSE(parse_report("@cpplan-rank {\"rank\": 1"));
  const std::string line = report_line({.status = StatusFile::in_memory(0).read()});
  CHECK_FALSE(parse_report(line.substr(0, line.size() - 9)));
}
