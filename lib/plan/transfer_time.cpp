#include "plan/transfer_time.hpp"

#include <algorithm>
#include <cmath>

namespace cpplan::plan {
namespace {

/// Where a ring leaves the node, as many rings share the bytes as the group has ranks there, each
/// with its own way out.
double step_seconds(const cluster::Curve& near, const cluster::Curve& far,
                    const SimulatedGroup& group, double bytes) {
  if (group.one_node) return near(bytes);
  return std::max(near(bytes), far(bytes / group.members_of_node));
}

double message_seconds(const cluster::Link& link, Bytes bytes) {
  if (bytes.count == 0) return 0;
  return link.seconds_to_start + link.message(static_cast<double>(bytes.count));
}

/// In two directions to all leaves of a tree and back.
double tree_seconds(const cluster::Curve& message, double size, double bytes) {
  const double depth = 2 * std::ceil(std::log2(size));
  return depth * message(0) + 2 * (message(bytes) - message(0));
}

}  // namespace

double exchange_seconds(const cluster::HardwareProfile& profile,
                        std::span<const kernels::Route> routes, const SimulatedGroup& group) {
  Bytes near, far;
  for (const kernels::Route& route : routes) {
    const bool same_node = group.same_node[static_cast<std::size_t>(route.peer)];
    (same_node ? near : far) += std::max(route.sent, route.received);
  }
  return std::max(message_seconds(profile.node, near), message_seconds(profile.link(false), far));
}

double collective_seconds(const cluster::HardwareProfile& profile, std::string_view collective,
                          Bytes sent, const SimulatedGroup& group) {
  const auto size = static_cast<double>(group.members.size());
  const cluster::Link &near = profile.node, &far = profile.link(group.one_node);
  const auto message = [&](double bytes) {
    return step_seconds(near.message, far.message, group, bytes);
  };
  const auto sum = [&](double bytes) {
    return step_seconds(near.adding(), far.adding(), group, bytes);
  };
  const auto bytes = static_cast<double>(sent.count);
  const double steps = size - 1, to_start = far.seconds_to_start;
  if (collective == "all_gather") return to_start + steps * message(bytes / steps);
  if (collective == "reduce_scatter") return to_start + steps * sum(bytes / steps);
  const double piece = bytes / (2 * steps);
  const double ring = steps * (sum(piece) + message(piece));
  if (profile.transfers == cluster::Transfers::by_the_rank) return to_start + ring;
  const auto tree = [&](const cluster::Curve& link) {
    return tree_seconds(link, size, piece * size);
  };
  return to_start + std::min(ring, tree(far.message));
}

}  // namespace cpplan::plan
