#pragma once
// The four degrees, as one frozen value that is right by construction.
#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::layout {

/// world = tp * cp * pp * dp; dp = dp_shard * dp_replicate. All at least 1.
struct ParallelDims {
  int tp = 1, cp = 1, pp = 1, dp = 1;
  bool sequence_parallel = false;  // norms, dropout and residuals on 1/tp of the rows

  Index world() const { return Index{tp} * cp * pp * dp; }
  Index weight_shards() const { return Index{tp} * pp; }
  Index weight_replicas() const { return Index{dp} * cp; }
  friend bool operator==(const ParallelDims&, const ParallelDims&) = default;
};

/// Error where a degree is below 1 or the product does not fit an int.
Result<ParallelDims> make_parallel_dims(Index tp, Index cp, Index pp, Index dp,
                                        bool sequence_parallel);

}  // namespace cpplan::layout
