// The six groups of a rank: right peers, right names, one answer on every transport.
#include "comm/transports.hpp"

#include <doctest/doctest.h>

#include <set>

#include "comm/rank_runner.hpp"
#include "recorder.hpp"
#include "support.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;
using layout::Dim;

layout::Ranks ranks_of(int tp, int cp, int pp, int dp) {
  layout::ParallelDims dims;
  dims.tp = tp, dims.cp = cp, dims.pp = pp, dims.dp = dp;
  return layout::Ranks(dims);
}

/// The world ranks of a group in its order, as its own all-gather tells.
std::vector<int> members_of(Communicator& group, int rank) {
  Matrix mine(DType::i32, 1, 1), all(DType::i32, group.size(), 1);
  mine.put(0, 0, rank);
  group.all_gather(mine.tensor(), all.tensor()).wait();
  std::vector<int> members;
  for (Index i = 0; i < all.rows(); ++i) members.push_back(static_cast<int>(all.at(i, 0)));
  return members;
}

TEST_CASE("groups: threads meet the peers that the layout names") {
  const layout::Ranks ranks = ranks_of(2, 2, 2, 2);
  ThreadWorld world(16, 20s);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const GroupSet groups = make_thread_groups(world, ranks, rank, trace);
    const auto expect_peers = [&](Communicator& group, const layout::Group& peers) {
      expect(members_of(group, rank) == peers.members(), "the peers of the layout");
      expect(group.rank() == peers.index_of(rank), "the rank in the group");
    };
    expect_peers(*groups.tp, ranks.group(rank, Dim::tp));
    expect_peers(*groups.cp, ranks.group(rank, Dim::cp));
    expect_peers(*groups.pp_forward, ranks.group(rank, Dim::pp));
    expect_peers(*groups.pp_backward, ranks.group(rank, Dim::pp));
    expect_peers(*groups.dp_cp, ranks.group(rank, Dim::dp, Dim::cp));
    expect(groups.pp_forward->rank() == ranks.coordinates(rank)[Dim::pp], "rank is stage");
    expect(members_of(*groups.world, rank).back() == 15, "everybody");
  });
  CHECK(result.has_value());
}

TEST_CASE("groups: activations and gradients between stages do not mix and count together") {
  const layout::Ranks ranks = ranks_of(1, 1, 2, 1);
  ThreadWorld world(2, 20s);
  const auto result = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const GroupSet groups = make_thread_groups(world, ranks, rank, trace);
    Matrix first = filled(DType::f32, 1, 1, 4), second = filled(DType::f32, 2, 1, 4);
    if (rank == 0) {
      const Message forward[] = {send_to(1, first.tensor())};
      const Message backward[] = {send_to(1, second.tensor())};
      groups.pp_forward->exchange(forward).wait();
      groups.pp_backward->exchange(backward).wait();
      return;
    }
    Matrix a(DType::f32, 1, 4), b(DType::f32, 1, 4);
    const Message backward[] = {receive_from(0, b.tensor())};
    const Message forward[] = {receive_from(0, a.tensor())};
    groups.pp_backward->exchange(backward).wait();
    groups.pp_forward->exchange(forward).wait();
    expect(a.memory() == first.memory() && b.memory() == second.memory(), "each its own");
  });
  CHECK(result.has_value());
  CHECK(world.endpoint(0).posted() == Ledger{{{"pp", "exchange"}, {Bytes{32}, 2}}});
}

TEST_CASE("groups: on paper the world may have 16384 ranks") {
  const layout::Ranks ranks = ranks_of(8, 16, 16, 8);
  Recorder trace;
  const int rank = 12345;
  const GroupSet groups = make_meta_groups(ranks, rank, trace);
  const auto at = ranks.coordinates(rank);
  CHECK(groups.tp->size() == 8);
  CHECK(groups.tp->rank() == at[Dim::tp]);
  CHECK(groups.cp->size() == 16);
  CHECK(groups.cp->rank() == at[Dim::cp]);
  CHECK(groups.pp_backward->rank() == at[Dim::pp]);
  CHECK(groups.dp_cp->size() == 128);
  CHECK(groups.dp_cp->rank() == at[Dim::dp] * 16 + at[Dim::cp]);
  CHECK(groups.world->size() == 16384);
  CHECK(groups.world->rank() == rank);
  std::set<std::string_view> names;
  for (const auto* group : {&groups.tp, &groups.cp, &groups.pp_forward, &groups.pp_backward,
                            &groups.dp_cp, &groups.world})
    names.insert((*group)->group());
  CHECK(names == std::set<std::string_view>{"tp", "cp", "pp", "dp_cp", "world"});
}

TEST_CASE("groups: those of a rank are listed under the numbers of its trace") {
  const layout::Ranks ranks = ranks_of(2, 4, 2, 1);
  const int rank = 5;
  Recorder trace;
  const GroupSet set = make_meta_groups(ranks, rank, trace, {.cp_inner = 2});
  for (auto* communicator :
       {&set.tp, &set.cp, &set.cp_inner, &set.cp_outer, &set.pp_forward, &set.pp_backward,
        &set.dp_cp, &set.dp_shard_cp, &set.dp_replicate, &set.tp_kv, &set.embedding, &set.world}) {
    Matrix value(DType::f32, 1, 1);
    (*communicator)->all_reduce(value.tensor()).wait();
    const auto number = trace.starts.back().communicator;
    for (const NamedGroup& group : named_groups(ranks, rank, {.cp_inner = 2})) {
      if (group.number != number) continue;
      CHECK(group.name == (*communicator)->group());
      CHECK(group.group.size() == (*communicator)->size());
      CHECK(group.group.index_of(rank) == (*communicator)->rank());
    }
  }
  CHECK(named_groups(ranks, rank, {.cp_inner = 2}).size() == trace.starts.size());
}

}  // namespace
}  // namespace cpplan::comm::test
