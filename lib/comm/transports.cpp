#include "comm/transports.hpp"

#include <array>

#include "comm/meta.hpp"
#include "comm/nccl.hpp"
#include "layout/parameter_groups.hpp"

namespace cpplan::comm {
namespace {
using layout::Dim;

layout::Group world_group(const layout::Ranks& ranks) {
  layout::Group all;
  all.axes[0] = {ranks.world(), 1};
  return all;
}

/// The neighbours of a CP rank that it exchanges heads with.
layout::Group inner_group(const layout::Group& cp, int rank, int size) {
  const layout::Group::Axis axis = cp.axes[0];
  const int first = cp.index_of(rank) / size * size;
  return {cp.rank(first), {layout::Group::Axis{size, axis.stride}, {}}};
}

/// The ranks at the same place of every inner group.
layout::Group outer_group(const layout::Group& cp, int rank, int size) {
  const layout::Group::Axis axis = cp.axes[0];
  const int place = cp.index_of(rank) % size;
  return {cp.rank(place), {layout::Group::Axis{axis.count / size, axis.stride * size}, {}}};
}

/// By key.
constexpr std::array communicators = {
    &GroupSet::tp,          &GroupSet::cp,           &GroupSet::pp_forward, &GroupSet::pp_backward,
    &GroupSet::dp_cp,       &GroupSet::world,        &GroupSet::cp_inner,   &GroupSet::cp_outer,
    &GroupSet::dp_shard_cp, &GroupSet::dp_replicate, &GroupSet::tp_kv,      &GroupSet::embedding};

NcclLanes lanes_of(std::unique_ptr<Communicator> GroupSet::*communicator) {
  if (communicator == &GroupSet::pp_forward) return NcclLanes::to_next;
  if (communicator == &GroupSet::pp_backward) return NcclLanes::to_previous;
  return NcclLanes::group;
}

/// `make_one(name, key, group)` gives one communicator; the keys set groups of one rank apart.
template <class Make>
GroupSet make_groups(const layout::Ranks& ranks, int rank, const GroupSettings& settings,
                     const Make& make_one) {
  const int inner = settings.cp_inner;
  const auto make = [&](const char* name, int key, const layout::Group& group) {
    auto communicator = make_one(name, key, group);
    communicator->set_number(key);
    return communicator;
  };
  const layout::Group cp = ranks.group(rank, Dim::cp);
  expect(inner >= 1 && cp.size() % inner == 0, "inner CP groups fill the CP group");
  const layout::Group stages = ranks.group(rank, Dim::pp);
  GroupSet set;
  set.tp = make("tp", 0, ranks.group(rank, Dim::tp));
  set.cp = make("cp", 1, cp);
  set.cp_inner = make("cp_inner", 6, inner_group(cp, rank, inner));
  set.cp_outer = make("cp_outer", 7, outer_group(cp, rank, inner));
  set.pp_forward = make("pp", 2, stages);
  set.pp_backward = make("pp", 3, stages);
  set.dp_cp = make("dp_cp", 4, ranks.group(rank, Dim::dp, Dim::cp));
  set.dp_shard_cp = make("dp_shard_cp", 8, layout::shard_group(ranks, rank, settings.dp_replicate));
  set.dp_replicate =
      make("dp_replicate", 9, layout::replicate_group(ranks, rank, settings.dp_replicate));
  set.tp_kv = make("tp_kv", 10, layout::kv_group(ranks, rank, settings.kv_copies));
  set.embedding = make("embedding", 11, layout::embedding_group(ranks, rank));
  set.world = make("world", 5, world_group(ranks));
  return set;
}

}  // namespace

GroupSet make_meta_groups(const layout::Ranks& ranks, int rank, kernels::Trace& trace,
                          const GroupSettings& settings) {
  return make_groups(ranks, rank, settings, [&](const char* name, int, const layout::Group& group) {
    return make_meta_communicator(name, group.index_of(rank), group.size(), trace);
  });
}

std::vector<NamedGroup> named_groups(const layout::Ranks& ranks, int rank,
                                     const GroupSettings& settings) {
  kernels::NoTrace trace;
  std::vector<NamedGroup> groups;
  make_groups(ranks, rank, settings, [&](const char* name, int key, const layout::Group& group) {
    groups.push_back({name, key, group});
    return make_meta_communicator(name, group.index_of(rank), group.size(), trace);
  });
  return groups;
}

GroupSet make_thread_groups(ThreadWorld& world, const layout::Ranks& ranks, int rank,
                            kernels::Trace& trace, const GroupSettings& settings) {
  expect(world.size() == ranks.world(), "the world has the ranks of the layout");
  return make_groups(ranks, rank, settings,
                     [&](const char* name, int key, const layout::Group& group) {
                       return make_thread_communicator(world, name, key, group.members(),
                                                       group.index_of(rank), trace);
                     });
}

GroupSet make_mpi_groups(MpiWorld& world, const layout::Ranks& ranks, kernels::Trace& trace,
                         const GroupSettings& settings) {
  expect(world.size() == ranks.world(), "the world has the ranks of the layout");
  const int rank = world.rank();
  return make_groups(ranks, rank, settings, [&](const char* name, int, const layout::Group& group) {
    return make_mpi_communicator(world, name, group.members(), group.index_of(rank), trace);
  });
}

GroupSet make_staged_groups(kernels::Device& device, PinnedBlocks& blocks, Endpoint& endpoint,
                            GroupSet host, kernels::Trace& trace) {
  GroupSet set;
  for (std::size_t key = 0; key < communicators.size(); ++key) {
    auto& made = set.*communicators[key];
    made = make_staged_communicator(device, blocks, endpoint, std::move(host.*communicators[key]),
                                    trace);
    made->set_number(static_cast<int>(key));
  }
  return set;
}

GroupSet make_nccl_groups(NcclWorld& world, PinnedBlocks& blocks, GroupSet host,
                          const layout::Ranks& ranks, kernels::Trace& trace,
                          const GroupSettings& settings) {
  const auto make = [&](const char*, int key, const layout::Group& group) {
    const auto communicator = communicators[static_cast<std::size_t>(key)];
    if (communicator == &GroupSet::world)
      return make_staged_communicator(world.device(), blocks, world.host(),
                                      std::move(host.*communicator), trace);
    return make_nccl_communicator(world, *(host.*communicator), group.members(),
                                  lanes_of(communicator), trace);
  };
  return make_groups(ranks, world.rank(), settings, make);
}

}  // namespace cpplan::comm
