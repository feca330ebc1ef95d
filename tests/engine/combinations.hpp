#pragma once
// The combinations of parallel forms in which the mathematics must be that of one rank.
#include <vector>

#include "engine/experiment.hpp"

namespace cpplan::test {

/// The experiment in each combination of (TP, CP, PP, DP, SP, way to other ranks' keys, split,
/// schedule, stages, recomputation, sharded state) of the table, up to 16 ranks. Under sanitizers,
/// every eighth.
std::vector<Experiment> combinations(const Experiment& base);

/// Of those, a few that together go every way.
std::vector<Experiment> few_combinations(const Experiment& base);

}  // namespace cpplan::test
