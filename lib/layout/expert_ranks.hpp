#pragma once
// Where the experts of a mixture stand: a second grid over the same ranks, in which the ranks that
// attention gives to TP, CP and DP are cut into expert-TP, EP and expert-DP.
#include <optional>
#include <vector>

#include "layout/ranks.hpp"

namespace cpplan::layout {

struct ExpertDims {
  int etp = 1, ep = 1, edp = 1, pp = 1;
  int size(Dim d) const;
};

/// Megatron: EDP = world / (ETP * EP * PP). None where these do not divide the world.
std::optional<ExpertDims> expert_dims(Index world, Index etp, Index ep, Index pp);

/// Groups along a dimension of the grid by first rank, `order` as for attention with CP left out
/// (Megatron-LM, core/parallel_state.py). Dim::tp is expert-TP and Dim::dp expert-DP.
std::vector<Group> expert_groups(const ExpertDims&, const Order&, Dim);

/// axolotl: EP multiplies data parallelism and is the slowest dimension.
std::vector<Group> outermost_groups(int world, int ep);

}  // namespace cpplan::layout
