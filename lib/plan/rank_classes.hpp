#pragma once
// Which ranks of a world differ in what they do in a step, by argument. Pipeline stages do: in
// layers, ends and micro-batches in flight. TP ranks do where the vocabulary is padded, and one of
// them squares the gradients of whole tensors. CP ranks do where the mask gives them other numbers
// of pairs, and the first replica squares its gradients. Nothing else asks for a rank's place.
#include <vector>

#include "engine/meta_run.hpp"

namespace cpplan::plan {

/// `at` is one of `ranks` that do the same.
struct RankClass {
  layout::Coordinates at;
  Index ranks = 1;
};

std::vector<RankClass> rank_classes(const engine::Job&, const engine::Documents&);

/// Allowed pairs of each CP rank at each step of a ring, one micro-batch; of a head.
std::vector<std::vector<Index>> ring_work(const engine::Job&, const engine::Documents&);
bool cp_ranks_work_alike(const engine::Job&, const engine::Documents&);

/// Greatest of the CP ranks' pairs over their mean.
double work_imbalance(const engine::Job&, const engine::Documents&);

}  // namespace cpplan::plan
