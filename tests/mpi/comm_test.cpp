// MPI ranks give what in-process ranks give, bit for bit, and count what they post.
#include <doctest/doctest.h>

#include "base/failure.hpp"
#include "comm/rank_runner.hpp"
#include "comm/transports.hpp"
#include "mpi/world.hpp"
#include "support/host_device.hpp"
#include "unit/comm/battery.hpp"
#include "unit/comm/recorder.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;
using layout::Dim;

std::vector<int> everybody() {
  std::vector<int> members;
  for (int rank = 0; rank < the_world().size(); ++rank) members.push_back(rank);
  return members;
}

/// What this process's rank gets from the battery when the ranks are threads.
std::vector<std::byte> on_threads(Index rows) {
  std::vector<std::byte> mine;
  ThreadWorld world(the_world().size(), 20s);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto group = make_thread_communicator(world, "tp", 0, everybody(), rank, trace);
    auto bytes = one_after_the_other(*group, rows);
    if (rank == the_world().rank()) mine = std::move(bytes);
  });
  REQUIRE(result.has_value());
  return mine;
}

TEST_CASE("mpi: ranks and host are known") {
  const MpiWorld& world = the_world();
  CHECK(world.size() >= 2);
  CHECK(world.rank() >= 0);
  CHECK(world.rank() < world.size());
  CHECK(world.local_rank() == world.rank());
  CHECK_FALSE(world.host_name().empty());
}

TEST_CASE("mpi: the same bits as threads for small and large messages") {
  for (const Index rows : {1, 3, 2000}) {
    Recorder trace;
    const Ledger before = the_world().endpoint().posted();
    const auto group =
        make_mpi_communicator(the_world(), "tp", everybody(), the_world().rank(), trace);
    const auto expected = on_threads(rows);
    CHECK(several_at_once(*group, rows) == expected);
    CHECK(one_after_the_other(*group, rows) == expected);

    Ledger after = the_world().endpoint().posted(), start = before;
    for (const char* collective : {"exchange", "all_gather", "reduce_scatter", "all_reduce"}) {
      const std::pair<std::string, std::string> key = {"tp", collective};
      CHECK(after[key].bytes - start[key].bytes == trace.sent("tp", collective));
      CHECK(after[key].messages > start[key].messages);
    }
  }
}

TEST_CASE("mpi: tensors of devices get the same bits by way of the host") {
  cpplan::test::HostDevice device(cpplan::test::HostStream::Kind::immediate);
  PinnedBlocks blocks(device);
  kernels::NoTrace of_host;
  Recorder trace;
  MpiWorld& world = the_world();
  const Ledger before = world.endpoint().posted();
  const auto group = make_staged_communicator(
      device, blocks, world.endpoint(),
      make_mpi_communicator(world, "tp", everybody(), world.rank(), of_host), trace);
  for (const Index rows : {1, 2000}) {
    const auto expected = on_threads(rows);
    CHECK(several_at_once(*group, rows) == expected);
    CHECK(one_after_the_other(*group, rows) == expected);
  }
  Ledger after = world.endpoint().posted(), start = before;
  const std::pair<std::string, std::string> key = {"tp", "all_reduce"};
  CHECK(after[key].bytes - start[key].bytes == trace.sent("tp", "all_reduce"));
}

TEST_CASE("mpi: the groups of a layout have the peers that it names") {
  layout::ParallelDims dims;
  dims.cp = the_world().size();
  const layout::Ranks ranks(dims);
  kernels::NoTrace trace;
  const GroupSet groups = make_mpi_groups(the_world(), ranks, trace);
  CHECK(groups.tp->size() == 1);
  CHECK(groups.pp_forward->size() == 1);
  CHECK(groups.dp_cp->size() == the_world().size());
  Matrix mine(DType::i32, 1, 1), all(DType::i32, the_world().size(), 1);
  mine.put(0, 0, the_world().rank());
  groups.cp->all_gather(mine.tensor(), all.tensor()).wait();
  for (int rank = 0; rank < the_world().size(); ++rank) CHECK(all.at(rank, 0) == rank);
}

TEST_CASE("mpi: subgroups in another order than the world's") {
  // Rank 0 alone; the others as one group, the last first.
  kernels::NoTrace trace;
  std::vector<int> others;
  for (int rank = the_world().size() - 1; rank > 0; --rank) others.push_back(rank);
  const int rank = the_world().rank();
  const auto group = rank == 0 ? make_mpi_communicator(the_world(), "cp", {0}, 0, trace)
                               : make_mpi_communicator(the_world(), "cp", others,
                                                       the_world().size() - 1 - rank, trace);
  Matrix mine(DType::i32, 1, 1), all(DType::i32, group->size(), 1);
  mine.put(0, 0, rank);
  group->all_gather(mine.tensor(), all.tensor()).wait();
  for (int i = 0; i < group->size(); ++i)
    CHECK(all.at(i, 0) == (rank == 0 ? 0 : others[static_cast<std::size_t>(i)]));
}

TEST_CASE("mpi: all agree or all know that they do not") {
  MpiWorld& world = the_world();
  CHECK(world.agree(0));
  CHECK(world.agree(0xfedcba9876543210u));
  CHECK_FALSE(world.agree(world.rank() == world.size() - 1 ? 1 : 0));
  CHECK_FALSE(world.agree(static_cast<std::uint64_t>(world.rank())));
}

TEST_CASE("mpi: what every rank says is gathered in their order") {
  MpiWorld& world = the_world();
  const auto said = [](int rank) { return std::string(static_cast<std::size_t>(rank) * 3, 'x'); };
  const auto all = world.gather(said(world.rank()));
  REQUIRE(all.size() == static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank)
    CHECK(all[static_cast<std::size_t>(rank)] == said(rank));
}

TEST_CASE("mpi: a peer that never posts is named when the deadline passes") {
  kernels::NoTrace trace;
  MpiWorld& world = the_world();
  const auto group = make_mpi_communicator(world, "cp", everybody(), world.rank(), trace);
  if (world.rank() == 0) {
    world.endpoint().set_deadline(200ms);
    Matrix received(DType::f32, 3, 5);
    const Message from[] = {receive_from(1, received.tensor())};
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_WITH_AS(
        group->exchange(from).wait(),
        "rank 1 did not answer within 0.2 s (exchange of group \"cp\"). If it is only slow, a "
        "longer --timeout helps",
        Failure);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    world.endpoint().set_deadline(10s);
  }
  CHECK(world.agree(7));  // the world is still in order
}

}  // namespace
}  // namespace cpplan::comm::test
