#pragma once
// The communicators that one rank of a layout needs, on each transport.
#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/mpi.hpp"
#include "comm/nccl_world.hpp"
#include "comm/staged.hpp"
#include "comm/threads.hpp"
#include "layout/ranks.hpp"

namespace cpplan::comm {

/// Groups within TP, CP and DP.
struct GroupSettings {
  int cp_inner = 1;      // neighbours that exchange heads; divides CP
  int dp_replicate = 1;  // copies of the sharded state; divides DP
  int kv_copies = 1;     // TP ranks that share KV heads; divides TP
};

/// Activations and gradients cross stages on a communicator each, both counted as "pp", so that no
/// tags are needed. In the pp groups the rank is the stage. CP rank r is place r % cp_inner of
/// inner group r / cp_inner; the ranks of one place form an outer group.
struct GroupSet {
  std::unique_ptr<Communicator> tp, cp;
  std::unique_ptr<Communicator> cp_inner, cp_outer;  // the two levels of a hierarchical CP
  std::unique_ptr<Communicator> pp_forward, pp_backward, dp_cp;
  std::unique_ptr<Communicator> dp_shard_cp, dp_replicate;  // a copy of sharded state; its copies
  std::unique_ptr<Communicator> tp_kv, embedding;  // TP ranks with the same KV heads; tied stages
  std::unique_ptr<Communicator> world;
};

/// Groups that move nothing, for any rank of a world of any size.
GroupSet make_meta_groups(const layout::Ranks& ranks, int rank, kernels::Trace& trace,
                          const GroupSettings& settings = {});

/// Who meets on each communicator of a rank: `number` is the communicator's in the rank's trace.
struct NamedGroup {
  std::string_view name;
  int number = 0;
  layout::Group group;
};
std::vector<NamedGroup> named_groups(const layout::Ranks& ranks, int rank,
                                     const GroupSettings& settings = {});

/// The world has the size of the layout; `rank` is that of the calling thread.
GroupSet make_thread_groups(ThreadWorld& world, const layout::Ranks& ranks, int rank,
                            kernels::Trace& trace, const GroupSettings& settings = {});

/// Called by all ranks of the world together.
GroupSet make_mpi_groups(MpiWorld& world, const layout::Ranks& ranks, kernels::Trace& trace,
                         const GroupSettings& settings = {});

/// Of tensors in the memory of devices, by way of the host: `host` is the rank's set on a transport
/// of `endpoint`, made with a trace that nobody reads.
GroupSet make_staged_groups(kernels::Device& device, PinnedBlocks& blocks, Endpoint& endpoint,
                            GroupSet host, kernels::Trace& trace);

/// The same over NCCL, but for the world's: the host reads what it carries, and stages it. Called
/// by all ranks of the world together.
GroupSet make_nccl_groups(NcclWorld& world, PinnedBlocks& blocks, GroupSet host,
                          const layout::Ranks& ranks, kernels::Trace& trace,
                          const GroupSettings& settings = {});

}  // namespace cpplan::comm
