#pragma once
// What carries the messages of in-process ranks: their threads, or devices of their own, which have
// the host's memory and are connected by the fake NCCL or by way of the host.
#include <functional>
#include <memory>

#include "comm/transports.hpp"

namespace cpplan::test {

/// The groups of a rank, and all that they stand on.
struct RankGroups {
  virtual ~RankGroups() = default;
  comm::GroupSet set;
};

/// Called by all ranks of the world together, each on its thread.
using MakeGroups = std::function<std::unique_ptr<RankGroups>(
    comm::ThreadWorld&, const layout::Ranks&, int rank, const comm::GroupSettings&)>;

inline std::unique_ptr<RankGroups> over_threads(comm::ThreadWorld& world,
                                                const layout::Ranks& ranks, int rank,
                                                const comm::GroupSettings& settings) {
  struct ThreadGroups final : RankGroups {
    kernels::NoTrace trace;
  };
  auto groups = std::make_unique<ThreadGroups>();
  groups->set = comm::make_thread_groups(world, ranks, rank, groups->trace, settings);
  return groups;
}

std::unique_ptr<RankGroups> over_nccl(comm::ThreadWorld&, const layout::Ranks&, int rank,
                                      const comm::GroupSettings&);
std::unique_ptr<RankGroups> over_the_host(comm::ThreadWorld&, const layout::Ranks&, int rank,
                                          const comm::GroupSettings&);

}  // namespace cpplan::test
