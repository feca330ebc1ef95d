// How in-process ranks end when one of them does.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>

#include "base/failure.hpp"
#include "child.hpp"
#include "comm/rank_runner.hpp"
#include "support.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("failure: a rank that throws ends all others at once with its reason") {
  ThreadWorld world(4, 60s);
  std::atomic<int> ended_by_it = 0;
  const auto begin = Clock::now();
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto tp = make_thread_communicator(world, "tp", 0, {0, 1, 2, 3}, rank, trace);
    if (rank == 2) throw Failure("the loss is not finite");
    Matrix sum = filled(DType::f32, rank, 1, 10);
    try {
      tp->all_reduce(sum.tensor()).wait();
    } catch (const Failure& failure) {
      if (contains(failure.what(), "rank 2: the loss is not finite")) ++ended_by_it;
      throw;
    }
  });
  CHECK(Clock::now() - begin < 5s);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message == "rank 2: the loss is not finite");
  CHECK(ended_by_it == 3);
}

TEST_CASE("failure: waits after the end of the world fail as well") {
  ThreadWorld world(2, 60s);
  CHECK(world.fail("first") == "first");
  CHECK(world.fail("second") == "first");
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    Matrix sum = filled(DType::f32, rank, 1, 10);
    if (rank == 0)
      make_thread_communicator(world, "tp", 0, {0, 1}, rank, trace)
          ->all_reduce(sum.tensor())
          .wait();
  });
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message == "first");
}

TEST_CASE("failure: a deadline that passes names the peer and the operation and the group") {
  ThreadWorld world(3, 200ms);
  const auto begin = Clock::now();
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    if (rank == 1) return;  // of the world, not of the group
    const auto cp = make_thread_communicator(world, "cp", 0, {2, 0}, rank == 2 ? 0 : 1, trace);
    if (rank == 2) return;  // never posts
    Matrix sum = filled(DType::f32, rank, 1, 10);
    cp->all_reduce(sum.tensor()).wait();
  });
  CHECK(Clock::now() - begin < 5s);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message ==
        "rank 0: rank 2 did not answer within 0.2 s (all_reduce of group \"cp\"). If it is only "
        "slow, a longer --timeout helps");
}

TEST_CASE("failure: works under way are dropped without a broken contract") {
  ThreadWorld world(2, 100ms);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto tp = make_thread_communicator(world, "tp", 0, {0, 1}, rank, trace);
    if (rank == 1) return;
    Matrix a = filled(DType::f32, rank, 1, 10), b = filled(DType::f32, rank, 1, 10);
    Work first = tp->all_reduce(a.tensor()), second = tp->all_reduce(b.tensor());
    second.wait();
    first.wait();
  });
  REQUIRE_FALSE(result.has_value());
  CHECK(contains(result.error().message, "rank 1 did not answer"));
}

TEST_CASE("failure: what is no Failure is thrown on after all ranks have ended") {
  ThreadWorld world(2, 60s);
  const auto run = [&] {
    return run_ranks(world, [&](int rank) {
      kernels::NoTrace trace;
      if (rank == 0) throw std::logic_error("a bug");
      Matrix sum = filled(DType::f32, rank, 1, 10);
      make_thread_communicator(world, "tp", 0, {0, 1}, rank, trace)
          ->all_reduce(sum.tensor())
          .wait();
    });
  };
  CHECK_THROWS_AS(run(), std::logic_error);
}

TEST_CASE("contracts: a message of another size than its receiver expects ends the process") {
  const auto ending = run_in_child([] {
    ThreadWorld world(2, 20s);
    static_cast<void>(run_ranks(world, [&](int rank) {
      kernels::NoTrace trace;
      const auto pp = make_thread_communicator(world, "pp", 0, {0, 1}, rank, trace);
      Matrix m = filled(DType::f32, rank, 1, 3 + rank);
      const Message message[] = {rank == 0 ? send_to(1, m.tensor()) : receive_from(0, m.tensor())};
      pp->exchange(message).wait();
    }));
  });
  CHECK(ending.exit_code == 70);
  CHECK(contains(ending.errors, "both ends of a message have the same size"));
}

}  // namespace
}  // namespace cpplan::comm::test
