#pragma once
// Ranks as threads, each with a device of its own, in one group over the fake NCCL or over the
// host.
#include <doctest/doctest.h>

#include <mutex>
#include <thread>

#include "base/failure.hpp"
#include "comm/nccl.hpp"
#include "comm/rank_runner.hpp"
#include "comm/staged.hpp"
#include "recorder.hpp"
#include "support.hpp"
#include "support/fake_nccl.hpp"
#include "support/host_device.hpp"

namespace cpplan::comm::test {
using cpplan::test::HostDevice;
using cpplan::test::HostStream;
using namespace std::chrono_literals;

struct DeviceRank {
  int rank = 0;
  HostDevice& device;
  Communicator& group;
  NcclWorld* nccl = nullptr;
};

constexpr std::chrono::milliseconds long_deadline = 20s;

enum class Way { nccl, staged };

struct DeviceRanks {
  int size = 2;
  Way way = Way::nccl;
  NcclLanes lanes = NcclLanes::group;
  HostStream::Kind compute = HostStream::Kind::queued;
  std::chrono::milliseconds deadline = long_deadline;  // of the body
  bool connected = true;  // before the body, where one lane connects all
};

inline std::vector<int> first_ranks(int size) {
  std::vector<int> members;
  for (int rank = 0; rank < size; ++rank) members.push_back(rank);
  return members;
}

/// The host waits until the device has done what it was told.
inline void synchronize(HostDevice& device) {
  const kernels::Event event = device.make_event();
  device.record(event, device.compute_stream());
  while (!device.done(event)) std::this_thread::yield();
}

/// Runs body(DeviceRank) on every rank of a group "cp", and holds what was posted against the
/// trace. The message of the first rank that failed; empty where none did.
template <class Body>
std::string on_devices(const DeviceRanks& settings, const Body& body) {
  ThreadWorld world(settings.size, long_deadline);
  const auto run = [&](int rank) {
    Recorder trace;
    kernels::NoTrace of_host;
    HostDevice device(settings.compute);
    Endpoint& endpoint = world.endpoint(rank);
    const auto members = first_ranks(settings.size);
    auto host = make_thread_communicator(world, "cp", 0, members, rank, of_host);
    NcclWorld nccl(cpplan::test::fake_nccl(), device, endpoint, {rank, "a"});
    PinnedBlocks blocks(device);
    const auto group =
        settings.way == Way::staged
            ? make_staged_communicator(device, blocks, endpoint, std::move(host), trace)
            : make_nccl_communicator(nccl, *host, members, settings.lanes, trace);
    if (settings.connected && settings.lanes == NcclLanes::group) {
      Matrix one(DType::i32, 1, 1);
      group->all_reduce(one.tensor()).wait();
      synchronize(device);
      trace.starts.clear();
    }
    endpoint.set_deadline(settings.deadline);
    const Ledger before = endpoint.posted();
    body(DeviceRank{rank, device, *group, &nccl});
    synchronize(device);
    Ledger after = endpoint.posted(), start = before;
    for (const char* collective : {"exchange", "all_gather", "reduce_scatter", "all_reduce"}) {
      const std::pair<std::string, std::string> key = {"cp", collective};
      expect(after[key].bytes - start[key].bytes == trace.sent("cp", collective),
             "bytes are posted as planned");
    }
  };
  std::mutex mutex;
  std::string failed;
  static_cast<void>(run_ranks(world, [&](int rank) {
    try {
      run(rank);
    } catch (const Failure& failure) {
      const std::lock_guard lock(mutex);
      failed += "rank " + std::to_string(rank) + ": " + failure.what() + '\n';
      throw;
    }
  }));
  return failed;
}

}  // namespace cpplan::comm::test
