// What carries the tensors of devices is chosen by all ranks together, from where they are.
#include "train/connections.hpp"

#include <doctest/doctest.h>

#include <array>
#include <mutex>

#include "base/failure.hpp"
#include "comm/rank_place.hpp"
#include "comm/rank_runner.hpp"
#include "support/fake_nccl.hpp"
#include "support/host_device.hpp"

namespace cpplan::train {
namespace {
using test::HostDevice;
using test::HostStream;

Result<const comm::NcclPlugin*> the_fake() {
  static const comm::NcclPlugin plugin{CPPLAN_VERSION, 22809, test::fake_nccl()};
  return &plugin;
}

Result<const comm::NcclPlugin*> no_library() {
  return failure("there is no libcpplan_nccl.so");
}

struct Case {
  std::array<const char*, 2> bus_ids = {"0000:01:00.0", "0000:02:00.0"};
  DeviceTransport wanted = DeviceTransport::automatic;
  Result<const comm::NcclPlugin*> (*nccl)() = the_fake;
};

struct Chosen {
  std::string transport, note, failed;
};

/// Two ranks of one host, as CP 2; both sum up what they were connected for.
Chosen connect(const Case& c) {
  Chosen chosen;
  std::mutex mutex;
  comm::ThreadWorld world(2, std::chrono::seconds(20));
  layout::ParallelDims dims;
  dims.cp = 2;
  const layout::Ranks ranks(dims);
  const auto result = comm::run_ranks(world, [&](int rank) {
    HostDevice device(HostStream::Kind::immediate, c.bus_ids[static_cast<std::size_t>(rank)]);
    kernels::NoTrace trace;
    const HostSide host{.transport = "mpi",
                        .host = "a",
                        .rank = rank,
                        .endpoint = world.endpoint(rank),
                        .make_groups = [&](kernels::Trace& told) {
                          return comm::make_thread_groups(world, ranks, rank, told);
                        }};
    const Connections made(host, &device, trace,
                           {.ranks = ranks, .groups = {}, .wanted = c.wanted, .nccl = c.nccl});
    float sum = 1;
    made.groups()
        .cp->all_reduce({reinterpret_cast<std::byte*>(&sum), 1, 1, 1, kernels::DType::f32})
        .wait();
    expect(sum == 2, "the group of both");
    const std::scoped_lock lock(mutex);
    chosen.transport = made.transport(), chosen.note = made.note();
  });
  if (!result) chosen.failed = result.error().message;
  return chosen;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("connections: ranks with a GPU each go over NCCL") {
  const Chosen chosen = connect({});
  CHECK(chosen.failed == "");
  CHECK(chosen.transport == "nccl");
  CHECK(chosen.note == "tensors travel over NCCL 2.28.9");
}

TEST_CASE("connections: ranks that share a GPU go by way of the host and say why") {
  const Chosen chosen = connect({.bus_ids = {"0000:01:00.0", "0000:01:00.0"}});
  CHECK(chosen.failed == "");
  CHECK(chosen.transport == "mpi, staged");
  CHECK(contains(chosen.note, "by way of the host (ranks 0 and 1 share GPU 0 (host) of host a"));
}

TEST_CASE("connections: NCCL that was asked for is refused where ranks share a GPU") {
  const Chosen chosen =
      connect({.bus_ids = {"0000:01:00.0", "0000:01:00.0"}, .wanted = DeviceTransport::nccl});
  CHECK(contains(chosen.failed,
                 "ranks 0 and 1 share GPU 0 (host) of host a (NCCL takes one rank a GPU). use "
                 "--transport mpi, which goes through the host, or start no more ranks there than "
                 "it has GPUs"));
}

TEST_CASE("connections: without the plug-in tensors go by way of the host or not at all") {
  const Chosen without = connect({.nccl = no_library});
  CHECK(without.transport == "mpi, staged");
  CHECK(contains(without.note, "rank 0 on host a cannot use NCCL: there is no libcpplan_nccl.so"));
  const Chosen refused = connect({.wanted = DeviceTransport::nccl, .nccl = no_library});
  CHECK(contains(refused.failed, "rank 0 on host a cannot use NCCL"));
}

TEST_CASE("connections: the host's transport is taken where it is asked for") {
  const Chosen chosen = connect({.wanted = DeviceTransport::host});
  CHECK(chosen.transport == "mpi, staged");
  CHECK(chosen.note == "tensors travel by way of the host (as --transport says)");
}

TEST_CASE("connections: the same address on another host is another GPU") {
  const comm::RankPlace one{"a", "0000:01:00.0", "0 (GPU)", ""}, other{"b", one.bus_id, "", ""};
  CHECK_FALSE(comm::why_not_nccl(std::array{one, other}));
  CHECK(comm::why_not_nccl(std::array{one, other, one}));
}

}  // namespace
}  // namespace cpplan::train
