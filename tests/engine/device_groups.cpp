// Ops of the host run where they are called, so the compute stream of these devices does, too: what
// it waits for the rank waits for. All else is as on hardware.
#include "comm/nccl.hpp"
#include "engine/rank_groups.hpp"
#include "support/fake_nccl.hpp"
#include "support/host_device.hpp"

namespace cpplan::test {
namespace {

struct DeviceGroups : RankGroups {
  ~DeviceGroups() override { set = {}; }  // before what they stand on
  kernels::NoTrace trace;
  HostDevice device{HostStream::Kind::immediate};
  comm::PinnedBlocks blocks{device};
};

struct NcclGroups final : DeviceGroups {
  explicit NcclGroups(comm::Endpoint& endpoint, int rank)
      : world(fake_nccl(), device, endpoint, {rank, "a"}) {}
  ~NcclGroups() override { set = {}; }
  comm::NcclWorld world;
};

}  // namespace

std::unique_ptr<RankGroups> over_nccl(comm::ThreadWorld& world, const layout::Ranks& ranks,
                                      int rank, const comm::GroupSettings& settings) {
  auto groups = std::make_unique<NcclGroups>(world.endpoint(rank), rank);
  auto of_host = comm::make_thread_groups(world, ranks, rank, groups->trace, settings);
  groups->set = comm::make_nccl_groups(groups->world, groups->blocks, std::move(of_host), ranks,
                                       groups->trace, settings);
  return groups;
}

std::unique_ptr<RankGroups> over_the_host(comm::ThreadWorld& world, const layout::Ranks& ranks,
                                          int rank, const comm::GroupSettings& settings) {
  auto groups = std::make_unique<DeviceGroups>();
  groups->set = comm::make_staged_groups(
      groups->device, groups->blocks, world.endpoint(rank),
      comm::make_thread_groups(world, ranks, rank, groups->trace, settings), groups->trace);
  return groups;
}

}  // namespace cpplan::test
