#include "comm/transports.hpp"

#include "comm/meta.hpp"

namespace cpplan::comm {
namespace {
using layout::Dim;

layout::Group world_group(const layout::Ranks& ranks) {
  layout::Group all;
  all.axes[0] = {ranks.world(), 1};
  return all;
}

/// `make(name, key, group)` gives one communicator; the keys set groups of one rank apart.
template <class Make>
GroupSet make_groups(const layout::Ranks& ranks, int rank, const Make& make) {
  const layout::Group stages = ranks.group(rank, Dim::pp);
  GroupSet set;
  set.tp = make("tp", 0, ranks.group(rank, Dim::tp));
  set.cp = make("cp", 1, ranks.group(rank, Dim::cp));
  set.pp_forward = make("pp", 2, stages);
  set.pp_backward = make("pp", 3, stages);
  set.dp_cp = make("dp_cp", 4, ranks.group(rank, Dim::dp, Dim::cp));
  set.world = make("world", 5, world_group(ranks));
  return set;
}

}  // namespace

GroupSet make_meta_groups(const layout::Ranks& ranks, int rank, kernels::Trace& trace) {
  return make_groups(ranks, rank, [&](const char* name, int, const layout::Group& group) {
    return make_meta_communicator(name, group.index_of(rank), group.size(), trace);
  });
}

GroupSet make_thread_groups(ThreadWorld& world, const layout::Ranks& ranks, int rank,
                            kernels::Trace& trace) {
  expect(world.size() == ranks.world(), "the world has the ranks of the layout");
  return make_groups(ranks, rank, [&](const char* name, int key, const layout::Group& group) {
    return make_thread_communicator(world, name, key, group.members(), group.index_of(rank), trace);
  });
}

GroupSet make_mpi_groups(MpiWorld& world, const layout::Ranks& ranks, kernels::Trace& trace) {
  expect(world.size() == ranks.world(), "the world has the ranks of the layout");
  const int rank = world.rank();
  return make_groups(ranks, rank, [&](const char* name, int, const layout::Group& group) {
    return make_mpi_communicator(world, name, group.members(), group.index_of(rank), trace);
  });
}

}  // namespace cpplan::comm
