#include "bench/profile.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace cpplan::bench {
namespace {
using cluster::Curve;

double best_rate(const AllPoints& ops, std::string_view op) {
  double best = 0;
  const auto found = ops.find(std::string(op));
  if (found == ops.end()) return best;
  for (const auto& [inner, points] : found->second)
    for (const Curve::Point& point : points) best = std::max(best, point.size / point.seconds);
  return best;
}

/// What an op takes that has next to nothing to do.
double least_seconds(const AllPoints& ops) {
  double least = 1;
  for (const auto& [op, by_length] : ops)
    for (const auto& [inner, points] : by_length)
      for (const Curve::Point& point : points) least = std::min(least, point.seconds);
  return least;
}

cluster::MeasuredOp measured(const OpPoints& by_length) {
  cluster::MeasuredOp op;
  for (const auto& [inner, points] : by_length) {
    auto curve = Curve::through(points);
    expect(curve.has_value(), "the sizes of an op differ");
    op.curves.push_back({inner, std::move(*curve), {}});
  }
  return op;
}

}  // namespace

cluster::HardwareProfile profile_of(const AllPoints& ops, std::string name, Index cores) {
  cluster::HardwareProfile profile;
  profile.name = std::move(name);
  profile.sources = {"measured by cpplan bench"};
  profile.devices_per_node = profile.cores.emplace(cores);
  profile.flops_per_second[cluster::Precision::fp32] = best_rate(ops, "gemm");
  profile.bytes_per_second = best_rate(ops, "copy");
  profile.seconds_per_op = least_seconds(ops);
  for (const auto& [op, by_length] : ops) profile.ops[op] = measured(by_length);
  profile.node.message = Curve::line(profile.seconds_per_op, profile.bytes_per_second);
  profile.transfers = cluster::Transfers::by_the_rank;
  return profile;
}

cluster::HardwareProfile with_neighbours(cluster::HardwareProfile alone,
                                         const cluster::HardwareProfile& together) {
  for (auto& [name, op] : alone.ops) {
    const auto beside = together.ops.find(name);
    if (beside == together.ops.end()) continue;
    for (std::size_t i = 0; i < op.curves.size() && i < beside->second.curves.size(); ++i)
      op.curves[i].together = beside->second.curves[i].alone;
  }
  alone.node = together.node;
  return alone;
}

}  // namespace cpplan::bench
