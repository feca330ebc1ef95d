// Point-to-point messages, and several transfers under way at once, on in-process ranks.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "battery.hpp"
#include "comm/rank_runner.hpp"
#include "recorder.hpp"
#include "support.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;

std::vector<int> first_ranks(int size) {
  std::vector<int> members;
  for (int rank = 0; rank < size; ++rank) members.push_back(rank);
  return members;
}

bool holds_values_of(int rank, const Matrix& m) {
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j)
      if (m.at(i, j) != value_of(DType::f32, rank, i, j)) return false;
  return true;
}

TEST_CASE("exchange: a ring of even and odd sizes with messages larger than any buffer") {
  for (const int size : {2, 3, 5, 8}) {
    ThreadWorld world(size, 20s);
    const auto result = run_ranks(world, [&](int rank) {
      kernels::NoTrace trace;
      const auto cp = make_thread_communicator(world, "cp", 0, first_ranks(size), rank, trace);
      const int previous = (rank + size - 1) % size;
      Matrix mine = filled(DType::f32, rank, 300, 500), theirs(DType::f32, 300, 500);
      const Message messages[] = {send_to((rank + 1) % size, mine.tensor()),
                                  receive_from(previous, theirs.tensor())};
      cp->exchange(messages).wait();
      expect(holds_values_of(previous, theirs), "the matrix of the rank before");
    });
    CHECK(result.has_value());
    CHECK(world.endpoint(0).posted() == Ledger{{{"cp", "exchange"}, {Bytes{300 * 500 * 4}, 1}}});
  }
}

TEST_CASE("exchange: all to all of column ranges and nothing beside them") {
  constexpr int size = 4;
  constexpr Index rows = 3, width = 5;
  std::vector<Matrix> received(size, {DType::f32, rows * size, width, width + 2});
  ThreadWorld world(size, 20s);
  std::vector<Recorder> traces(size);
  const auto result = run_ranks(world, [&](int rank) {
    const auto me = static_cast<std::size_t>(rank);
    const auto cp = make_thread_communicator(world, "cp", 0, first_ranks(size), rank, traces[me]);
    Matrix mine = filled(DType::f32, rank, rows, width * size);
    std::vector<Message> messages;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      messages.push_back(send_to(peer, mine.tensor().col_range(peer * width, width)));
      messages.push_back(receive_from(peer, received[me].tensor().row_range(peer * rows, rows)));
    }
    cp->exchange(messages).wait();
  });
  REQUIRE(result.has_value());
  for (int rank = 0; rank < size; ++rank) {
    const Matrix& m = received[static_cast<std::size_t>(rank)];
    for (Index i = 0; i < m.rows(); ++i)
      for (Index j = 0; j < width + 2; ++j) {
        const int peer = static_cast<int>(i / rows);
        if (peer == rank || j >= width)
          CHECK(std::isnan(m.at(i, j)));
        else
          CHECK(m.at(i, j) == value_of(DType::f32, peer, i % rows, rank * width + j));
      }
    Ledger posted = world.endpoint(rank).posted();
    CHECK(posted[{"cp", "exchange"}] == Posted{Bytes{3 * rows * width * 4}, 3});
    CHECK(traces[static_cast<std::size_t>(rank)].sent("cp", "exchange") ==
          Bytes{3 * rows * width * 4});
  }
}

TEST_CASE("exchange: messages match in the order of calls whatever is waited for first") {
  ThreadWorld world(2, 20s);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto pp = make_thread_communicator(world, "pp", 0, {0, 1}, rank, trace);
    if (rank == 0) {
      for (int m = 0; m < 3; ++m) {
        Matrix sent = filled(DType::f32, m, 2, 3);
        const Message to[] = {send_to(1, sent.tensor())};
        pp->exchange(to).wait();
        std::memset(sent.tensor().data, 0, 24);  // waited for: the memory is the sender's again
      }
      return;
    }
    std::vector<Matrix> received(3, {DType::f32, 2, 3});
    std::vector<Work> works;
    for (Matrix& m : received) {
      const Message from[] = {receive_from(0, m.tensor())};
      works.push_back(pp->exchange(from));
    }
    for (const std::size_t last_first : {2u, 0u, 1u}) works[last_first].wait();
    for (int m = 0; m < 3; ++m)
      expect(holds_values_of(m, received[static_cast<std::size_t>(m)]), "message m is the m-th");
  });
  CHECK(result.has_value());
}

TEST_CASE("works: several of one group under way give what one after the other gives") {
  for (const int size : {2, 3, 5}) {
    ThreadWorld world(size, 20s);
    const auto result = run_ranks(world, [&](int rank) {
      kernels::NoTrace trace;
      const auto tp = make_thread_communicator(world, "tp", 0, first_ranks(size), rank, trace);
      for (int round = 0; round < 20; ++round)
        expect(several_at_once(*tp, 3) == one_after_the_other(*tp, 3), "the same results");
    });
    CHECK(result.has_value());
  }
}

TEST_CASE("works: groups that share ranks do not mix and may be waited for crosswise") {
  constexpr int size = 4;
  ThreadWorld world(size, 20s);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto a = make_thread_communicator(world, "cp", 0, {0, 1, 2, 3}, rank, trace);
    const auto b = make_thread_communicator(world, "dp", 1, {3, 2, 1, 0}, 3 - rank, trace);
    for (int round = 0; round < 20; ++round) {
      Matrix x = filled(DType::f64, rank, 1, 9), y = filled(DType::f64, rank + 10, 1, 9);
      Work first = a->all_reduce(x.tensor()), second = b->all_reduce(y.tensor());
      (rank % 2 == 0 ? first : second).wait();
      (rank % 2 == 0 ? second : first).wait();
      for (Index j = 0; j < 9; ++j) {
        double sums[2] = {};
        for (int r = 0; r < size; ++r) {
          sums[0] += value_of(DType::f64, r, 0, j);
          sums[1] += value_of(DType::f64, r + 10, 0, j);
        }
        expect(std::fabs(x.at(0, j) - sums[0]) < 1e-9, "the sum of the first group");
        expect(std::fabs(y.at(0, j) - sums[1]) < 1e-9, "the sum of the second group");
      }
    }
  });
  CHECK(result.has_value());
}

TEST_CASE("works: a wait for one transfer moves the others on") {
  ThreadWorld world(3, 20s);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto tp = make_thread_communicator(world, "tp", 0, {0, 1, 2}, rank, trace);
    Matrix sum = filled(DType::f32, rank, 1, 30), flag = filled(DType::f32, rank, 1, 1);
    Work work = tp->all_reduce(sum.tensor());
    if (rank == 0) {  // waits for messages that come when the others have rank 0's later steps
      Matrix first(DType::f32, 1, 1), second(DType::f32, 1, 1);
      const Message from[] = {receive_from(1, first.tensor()), receive_from(2, second.tensor())};
      tp->exchange(from).wait();
      work.wait();
      return;
    }
    work.wait();
    const Message to[] = {send_to(0, flag.tensor())};
    tp->exchange(to).wait();
  });
  CHECK(result.has_value());
}

TEST_CASE("works: a rank that computes moves its transfers on") {
  ThreadWorld world(3, 20s);
  std::atomic<int> others_done = 0;
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto tp = make_thread_communicator(world, "tp", 0, {0, 1, 2}, rank, trace);
    Matrix sum = filled(DType::f32, rank, 1, 30);
    Work work = tp->all_reduce(sum.tensor());
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (rank == 0 && others_done < 2 && std::chrono::steady_clock::now() < until)
      world.endpoint(0).progress();
    if (rank == 0) expect(others_done == 2, "the others end before rank 0 waits");
    work.wait();
    ++others_done;
  });
  CHECK(result.has_value());
}

}  // namespace
}  // namespace cpplan::comm::test
