#pragma once
// Measures the ops of a training step on a backend, over the sizes that steps have.
#include <map>
#include <string>
#include <vector>

#include "bench/timing.hpp"
#include "cluster/curve.hpp"
#include "kernels/backend.hpp"

namespace cpplan::bench {

/// Points of one op by the length of its sums; 0 where it is no product.
using OpPoints = std::map<double, std::vector<cluster::Curve::Point>>;
using AllPoints = std::map<std::string, OpPoints>;

/// Told after every point how many of how many are done.
using Progress = std::function<void(Index done, Index total)>;

/// Operands lie in several copies that take turns, as a step's tensors do: what was used last is
/// in the shared cache, and not in the core's own.
AllPoints measure_ops(kernels::Ops&, const Barrier& together, const Progress& progress);

}  // namespace cpplan::bench
