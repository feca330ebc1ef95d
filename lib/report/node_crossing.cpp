#include "report/node_crossing.hpp"

#include <algorithm>

#include "layout/expert_ranks.hpp"

namespace cpplan::report {
namespace {
using layout::Dim;
using layout::Group;

constexpr Index largest_world = 65'536;

std::optional<Index> crossing(const std::vector<Group>& groups, std::optional<Index> gpus) {
  if (!gpus || *gpus < 1) return std::nullopt;
  return std::ranges::count_if(groups, [&](const Group& group) {
    return group.base / *gpus != group.rank(group.size() - 1) / *gpus;
  });
}

/// Experts of Megatron stand inside DP, axolotl's multiply it.
std::vector<Group> ep_groups(const plan::Plan& plan) {
  const Index world = plan.layout.dims.world(), ep = plan.layout.ep;
  if (ep <= 1) return {};
  if (plan.config.dialect == config::Dialect::axolotl)
    return world % ep == 0 ? layout::outermost_groups(static_cast<int>(world), static_cast<int>(ep))
                           : std::vector<Group>{};
  const auto& dims = plan.layout.dims;
  const Index etp = plan.config.megatron.expert_tensor_parallel_size.value_or(dims.tp);
  const auto experts = layout::expert_dims(world, etp, ep, dims.pp);
  return experts ? layout::expert_groups(*experts, plan.layout.order, Dim::ep)
                 : std::vector<Group>{};
}

}  // namespace

std::vector<GroupKind> group_kinds(const plan::Plan& plan) {
  const layout::Ranks ranks(plan.layout.dims, plan.layout.order);
  std::vector<GroupKind> kinds;
  if (ranks.world() > largest_world) return kinds;
  const auto add = [&](std::string name, std::vector<Group> groups) {
    if (groups.empty() || groups.front().size() == 1) return;
    const int size = groups.front().size();
    const auto cross = crossing(groups, plan.world.gpus_per_node);
    kinds.push_back({std::move(name), size, std::move(groups), cross});
  };
  add("tp", ranks.groups(Dim::tp));
  add("cp", ranks.groups(Dim::cp));
  add("pp", ranks.groups(Dim::pp));
  add("dp", ranks.groups(Dim::dp));
  add("tp_cp", ranks.groups(Dim::tp, Dim::cp));
  add("dp_cp", ranks.groups(Dim::dp, Dim::cp));
  add("tp_pp", ranks.groups(Dim::tp, Dim::pp));
  add("ep", ep_groups(plan));
  return kinds;
}

}  // namespace cpplan::report
