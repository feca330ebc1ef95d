#pragma once
// What a step sends, by the closed formulas of the literature, with no run and no meta run.
#include "engine/experiment.hpp"

namespace cpplan::test {

/// What all ranks of pipeline stage `stage` send together in one step, but for the group "world": a
/// ring of n ranks sends n - 1 times what it gathers or scatters, and twice that to reduce on all,
/// however unevenly the bytes divide over its ranks. TP and SP: Korthikanti et al., arXiv
/// 2205.05198. Ring attention: arXiv 2310.01889. Gather: arXiv 2407.21783. All-to-all: arXiv
/// 2309.14509.
Volumes closed_volumes(const engine::Job&, int stage);

/// What all ranks send together in the one reduction over the world: a squared norm for each tensor
/// and TP shard, and a loss and a token count for each replica.
Index closed_control_volume(const engine::Job&);

}  // namespace cpplan::test
