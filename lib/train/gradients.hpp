#pragma once
// Gradients of whole tensors, put together from the slices of the ranks.
#include <map>
#include <string>
#include <vector>

#include "engine/trainer.hpp"

namespace cpplan::train {

/// Elements of each tensor of the model, row by row, under its global name.
using WholeTensors = std::map<std::string, std::vector<double>>;

/// Adds what a rank owns of the gradients, times `scale`, to the whole tensors. What several ranks
/// own the first of them adds, so that the sum over all ranks is the whole.
void add_gradients(const engine::Trainer&, double scale, WholeTensors&);

double norm(const std::vector<double>&);

}  // namespace cpplan::train
