#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "train/status_reporter.hpp"

using namespace cpplan;
using namespace cpplan::train;

namespace {

/// Everything that was reported, safe to look at meanwhile.
struct Heard {
  std::mutex mutex;
  std::vector<record::RankReport> reports;

  StatusReporter::Write write() {
    return [this](const std::string& line) {
      const std::scoped_lock lock(mutex);
      reports.push_back(*record::parse_report(line));
    };
  }
  std::size_t count() {
    const std::scoped_lock lock(mutex);
    return reports.size();
  }
  bool reaches(std::size_t wanted) {
    for (int i = 0; i < 1000 && count() < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return count() >= wanted;
  }
};

}  // namespace

TEST_CASE("status reporter: speaks at once and goes on while nothing changes") {
  Heard heard;
  const auto status = record::StatusFile::in_memory(2);
  const StatusReporter reporter(status, heard.write());
  REQUIRE(heard.reaches(2));
  const std::scoped_lock lock(heard.mutex);
  CHECK(heard.reports[0].status.rank == 2);
  CHECK(heard.reports[1].status.updates == heard.reports[0].status.updates);
}

TEST_CASE("status reporter: the end is told before it comes back") {
  Heard heard;
  auto status = record::StatusFile::in_memory(0);
  StatusReporter reporter(status, heard.write());
  status.finished();
  reporter.report_end(5);
  const std::scoped_lock lock(heard.mutex);
  CHECK(heard.reports.back().status.state == record::RankState::finished);
  CHECK(heard.reports.back().exit_code == 5);
}
