#pragma once
// The layouts that every invariance test walks.
#include <vector>

#include "engine/experiment.hpp"

namespace cpplan::test {

/// (TP, CP, PP, DP) up to 16 ranks, odd rings among them. Under sanitizers, some that together go
/// every way.
inline std::vector<layout::ParallelDims> all_layouts() {
#ifdef CPPLAN_SANITIZED
  return {{1, 3, 1, 1}, {2, 2, 2, 1}, {1, 1, 4, 2}};
#else
  return {{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 3, 1, 1}, {1, 5, 1, 1}, {1, 1, 2, 1},
          {1, 1, 4, 2}, {1, 1, 1, 2}, {2, 2, 2, 1}, {2, 2, 1, 2}, {4, 2, 1, 1}, {2, 2, 2, 2}};
#endif
}

/// Each layout, with sequence parallelism off and, where there is TP, on.
inline std::vector<Experiment> each_layout(const Experiment& base) {
  std::vector<Experiment> experiments;
  for (auto dims : all_layouts()) {
    for (const bool sequence_parallel : {false, true}) {
      if (sequence_parallel && dims.tp == 1) continue;
      dims.sequence_parallel = sequence_parallel;
      experiments.push_back(base);
      experiments.back().dims = dims;
    }
  }
  return experiments;
}

}  // namespace cpplan::test
