#include "report/groups_json.hpp"

#include <algorithm>

namespace cpplan::report {
namespace {

using layout::Dim;
using layout::Group;
using layout::Ranks;
using Axis = Group::Axis;

constexpr int most_ranks_of_a_list = 1024, most_ranks_of_a_world = 4096;

/// One stride over both axes, or 0 where there is none.
int common_stride(const Group& group) {
  const auto& [fast, slow] = group.axes;
  if (slow.count == 1) return fast.stride;
  if (fast.count == 1) return slow.stride;
  return slow.stride == fast.count * fast.stride ? fast.stride : 0;
}

Json axes_json(const Group& group) {
  Json axes = Json::array();
  for (const Axis& axis : group.axes)
    axes.push_back(Json::Object{{"size", axis.count}, {"stride", axis.stride}});
  return axes;
}

Json arithmetic(const Group& group, int world) {
  Json json = Json::Object{{"size", group.size()}};
  if (const int stride = common_stride(group))
    json["stride"] = stride;
  else
    json["axes"] = axes_json(group);
  json["count"] = world / group.size();
  return json;
}

bool is_listed(const Group& group, int world) {
  return world <= most_ranks_of_a_world && group.size() <= most_ranks_of_a_list;
}

Json lists(const std::vector<Group>& groups) {
  Json json = Json::array();
  for (const Group& group : groups) json.push_back(group.members());
  return json;
}

template <class... Dims>
Json groups_along(const Ranks& ranks, Dims... dims) {
  const Group first = ranks.group(0, dims...);
  return is_listed(first, ranks.world()) ? lists(ranks.groups(dims...))
                                         : arithmetic(first, ranks.world());
}

/// The groups along `inner`, of which `outer` says how they fill each data-parallel group.
Json groups_within_dp(const Ranks& ranks, Axis inner, Axis outer) {
  const Group first{0, {inner, Axis{}}};
  if (!is_listed(first, ranks.world())) return arithmetic(first, ranks.world());
  std::vector<Group> groups;
  for (const Group& dp : ranks.groups(Dim::dp))
    for (int i = 0; i < outer.count; ++i)
      groups.push_back({dp.base + i * outer.stride, {inner, Axis{}}});
  std::ranges::sort(groups, {}, &Group::base);
  return lists(groups);
}

}  // namespace

Json::Object groups_json(const plan::LayoutPlan& layout) {
  const Ranks ranks(layout.dims, layout.order);
  Json::Object json = {{"tp_groups", groups_along(ranks, Dim::tp)},
                       {"cp_groups", groups_along(ranks, Dim::cp)},
                       {"dp_groups", groups_along(ranks, Dim::dp)},
                       {"pp_groups", groups_along(ranks, Dim::pp)},
                       {"dp_cp_groups", groups_along(ranks, Dim::dp, Dim::cp)},
                       {"tp_cp_groups", groups_along(ranks, Dim::tp, Dim::cp)}};
  if (layout.dp_shard * layout.dp_replicate != ranks.size(Dim::dp)) return json;
  const auto shards = static_cast<int>(layout.dp_shard);
  const Axis shard{shards, ranks.stride(Dim::dp)};
  const Axis replica{static_cast<int>(layout.dp_replicate), shards * ranks.stride(Dim::dp)};
  json.emplace_back("dp_shard_groups", groups_within_dp(ranks, shard, replica));
  json.emplace_back("dp_replicate_groups", groups_within_dp(ranks, replica, shard));
  return json;
}

}  // namespace cpplan::report
