#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "record/rank_status.hpp"

using namespace cpplan;
using namespace cpplan::record;

namespace {

struct StatusPath {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("cpplan-status-" + std::to_string(getpid()));
  ~StatusPath() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("rank status: a reader sees what the rank does") {
  const StatusPath at;
  CHECK_FALSE(read_rank_status(at.path));
  auto status = StatusFile::create(at.path, 5);
  REQUIRE(status);
  RankStatus seen = *read_rank_status(at.path);
  CHECK(seen.rank == 5);
  CHECK(seen.pid == getpid());
  CHECK(seen.start_ticks == *process_start_ticks(getpid()));
  CHECK(seen.start_ticks > 0);
  CHECK_FALSE(seen.host.empty());
  CHECK(seen.state == RankState::starting);
  CHECK(seen.step == 0);

  status->begin_step(12, std::chrono::seconds(60));
  status->waiting("dp_cp", "all_reduce");
  const Index updates = seen.updates;
  seen = *read_rank_status(at.path);
  CHECK(seen.step == 12);
  CHECK(seen.limit_seconds == 60);
  CHECK(seen.state == RankState::waiting);
  CHECK(seen.group == "dp_cp");
  CHECK(seen.operation == "all_reduce");
  CHECK(seen.updates > updates);

  status->computing("gemm");
  seen = *read_rank_status(at.path);
  CHECK(seen.state == RankState::computing);
  CHECK(seen.group.empty());
  CHECK(seen.operation == "gemm");
}

TEST_CASE("rank status: the first last words stay and keep the place of the failure") {
  const StatusPath at;
  auto status = StatusFile::create(at.path, 0);
  REQUIRE(status);
  status->waiting("pp", "exchange");
  status->failed("waited 3 s for rank 1");
  status->failed("then everything fell over");
  status->computing("gemm");
  const RankStatus seen = *read_rank_status(at.path);
  CHECK(seen.state == RankState::failed);
  CHECK(seen.last_words == "waited 3 s for rank 1");
  CHECK(seen.group == "pp");
  CHECK(seen.operation == "exchange");
}

TEST_CASE("rank status: words of a crash keep the place and what was said before") {
  const StatusPath at;
  auto status = StatusFile::create(at.path, 0);
  REQUIRE(status);
  status->computing("gemm");
  status->crashed("signal 11 (SIGSEGV)");
  status->crashed("signal 6 (SIGABRT)");
  const RankStatus seen = *read_rank_status(at.path);
  CHECK(seen.state == RankState::computing);
  CHECK(seen.operation == "gemm");
  CHECK(seen.last_words == "signal 11 (SIGSEGV)");
}

TEST_CASE("rank status: texts that are too long are cut") {
  const StatusPath at;
  auto status = StatusFile::create(at.path, 0);
  REQUIRE(status);
  status->failed(std::string(5000, 'x'));
  const RankStatus seen = *read_rank_status(at.path);
  CHECK(seen.last_words == std::string(seen.last_words.size(), 'x'));
  CHECK(seen.last_words.size() > 500);
}

TEST_CASE("rank status: a reader never sees half of a change") {
  const StatusPath at;
  auto status = StatusFile::create(at.path, 0);
  REQUIRE(status);
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    while (!stop) {
      status->waiting("cp", "exchange");
      status->waiting("dp_cp", "all_reduce");
    }
  });
  int mixed = 0;
  for (int i = 0; i < 2000; ++i) {
    const RankStatus seen = *read_rank_status(at.path);
    if (seen.state != RankState::waiting || seen.updates % 2 != 0) continue;
    mixed += (seen.group == "cp") != (seen.operation == "exchange");
  }
  stop = true;
  CHECK(mixed == 0);
}
