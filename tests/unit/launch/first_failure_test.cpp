#include <doctest/doctest.h>

#include <vector>

#include "launch/first_failure.hpp"

using namespace cpplan::launch;
using cpplan::record::RankState;

namespace {

constexpr Seconds limit{300};

/// A job of four ranks in step 7, all of them computing.
std::vector<RankView> healthy() {
  std::vector<RankView> ranks(4);
  for (int i = 0; i < 4; ++i) {
    auto& status = ranks[static_cast<std::size_t>(i)].status.emplace();
    status.rank = i, status.pid = 100 + i, status.host = "node0";
    status.state = RankState::computing;
    status.step = 7, status.limit_seconds = 3, status.operation = "gemm";
  }
  return ranks;
}

void wait_in(RankView& rank, const char* group, const char* operation, double seconds) {
  rank.status->state = RankState::waiting;
  rank.status->group = group, rank.status->operation = operation;
  rank.unchanged = Seconds(seconds);
}

void fail(RankView& rank, const char* words) {
  rank.status->state = RankState::failed;
  rank.status->last_words = words;
}

}  // namespace

TEST_CASE("first failure: none while ranks move, start or finish") {
  auto ranks = healthy();
  CHECK_FALSE(first_failure(ranks, limit));
  ranks[0].status.reset();
  wait_in(ranks[1], "tp", "all_gather", 2.9);
  ranks[2].status->state = RankState::finished, ranks[2].life = Life::gone;
  ranks[3].status->state = RankState::finished, ranks[3].unchanged = Seconds(1000);
  CHECK_FALSE(first_failure(ranks, limit));
}

TEST_CASE("first failure: a dead rank is the cause of what the others say") {
  auto ranks = healthy();
  for (int i : {0, 1, 3}) {
    wait_in(ranks[static_cast<std::size_t>(i)], "dp_cp", "all_reduce", 3);
    fail(ranks[static_cast<std::size_t>(i)], "waited 3 s");
  }
  ranks[2].life = Life::gone;
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::died);
  CHECK(failure->rank == 2);
}

TEST_CASE("first failure: a rank that failed by itself goes before those that waited for it") {
  auto ranks = healthy();
  wait_in(ranks[0], "tp", "all_reduce", 3);
  fail(ranks[0], "waited 3 s");
  fail(ranks[3], "the loss is not finite");
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::failed);
  CHECK(failure->rank == 3);
  CHECK(failure->last_words == "the loss is not finite");
}

TEST_CASE("first failure: a stopped process is named instead of its witness") {
  auto ranks = healthy();
  wait_in(ranks[0], "tp", "all_reduce", 3);
  fail(ranks[0], "waited 3 s");
  wait_in(ranks[1], "cp", "exchange", 3.1);
  ranks[1].life = Life::stopped;
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::stopped);
  CHECK(failure->rank == 1);
}

TEST_CASE("first failure: a stopped process that nobody waits for yet is left alone") {
  auto ranks = healthy();
  ranks[1].life = Life::stopped, ranks[1].unchanged = Seconds(1);
  CHECK_FALSE(first_failure(ranks, limit));
}

TEST_CASE("first failure: a rank that computes for too long is stuck") {
  auto ranks = healthy();
  for (int i : {0, 1, 2}) wait_in(ranks[static_cast<std::size_t>(i)], "pp", "exchange", 4);
  ranks[3].unchanged = Seconds(3.9), ranks[3].status->operation = "attention";
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::stuck);
  CHECK(failure->rank == 3);
}

TEST_CASE("first failure: where all wait the one that waited first is named") {
  auto ranks = healthy();
  for (auto& rank : ranks) wait_in(rank, "pp", "exchange", 4);
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::waited);
  CHECK(failure->rank == 0);
}

TEST_CASE(
    "first failure: who gave up in MPI_Init or MPI_Finalize is a witness of who was stopped") {
  auto ranks = healthy();
  wait_in(ranks[1], "world", "MPI_Finalize", 4);
  ranks[1].status->state = RankState::failed;
  ranks[3].status->state = RankState::finished;
  ranks[3].life = Life::stopped;
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::stopped);
  CHECK(failure->rank == 3);
}

TEST_CASE("first failure: a rank that never said a word is the one that others wait for") {
  auto ranks = healthy();
  for (auto& rank : ranks) wait_in(rank, "world", "MPI_Init", 4), rank.status->step = 0;
  ranks[2].status.reset();
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->rank == 2);
  CHECK(
      to_diagnostic(*failure, 4).message ==
      "rank 2 stopped making progress while the others waited before it could say where; the other "
      "3 were stopped");
  ranks[2] = ranks[1];
  CHECK(to_diagnostic(*first_failure(ranks, limit), 4).message.find("before step 1, MPI_Init") !=
        std::string::npos);
}

TEST_CASE(
    "first failure: a rank that cannot start is the cause of what mpirun does to the others") {
  auto ranks = healthy();
  ranks[0].life = Life::gone;
  ranks[2].status->step = 0;
  ranks[2].status->operation = cpplan::record::before_start;
  fail(ranks[2], "no text to train on");
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->rank == 2);
  CHECK(failure->last_words == "no text to train on");
}

TEST_CASE(
    "first failure: a rank that was stopped after its last step is found when its limit is over") {
  auto ranks = healthy();
  for (auto& rank : ranks) {
    rank.status->state = RankState::finished;
    rank.life = Life::gone, rank.unchanged = Seconds(10);
  }
  CHECK_FALSE(first_failure(ranks, limit));
  ranks[1].life = Life::stopped, ranks[1].unchanged = Seconds(3);
  CHECK_FALSE(first_failure(ranks, limit));
  ranks[1].unchanged = Seconds(4);
  const auto failure = first_failure(ranks, limit);
  REQUIRE(failure);
  CHECK(failure->cause == Cause::stopped);
  CHECK(failure->rank == 1);
  ranks[1].life = Life::running;
  CHECK(first_failure(ranks, limit)->cause == Cause::stuck);
}

TEST_CASE("first failure: ranks that have not named a limit get the one of the start") {
  auto ranks = healthy();
  for (auto& rank : ranks) rank.status->limit_seconds = 0, rank.unchanged = Seconds(10);
  CHECK_FALSE(first_failure(ranks, limit));
  CHECK(first_failure(ranks, Seconds(5)));
}

TEST_CASE("first failure: the message names rank, host, pid, step, group and how it ended") {
  auto ranks = healthy();
  wait_in(ranks[2], "dp_cp", "all_reduce", 0);
  ranks[2].life = Life::gone;
  auto failure = *first_failure(ranks, limit);
  failure.exit = Exit{.code = 0, .signal = 9};
  failure.last_words = "step 7";
  const auto finding = to_diagnostic(failure, 4);
  CHECK(finding.id == "CP511");
  CHECK(finding.message ==
        "rank 2 (node0, pid 102) was killed by signal 9 (SIGKILL) in step 7, all_reduce of group "
        "dp_cp; the other 3 were stopped");
  REQUIRE(finding.related.size() == 1);
  CHECK(finding.related[0].message == "last words: step 7");
  CHECK(finding.help.size() == 1);
}
