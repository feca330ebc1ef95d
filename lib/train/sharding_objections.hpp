#pragma once
// What of a config's sharding the engine runs otherwise: the numbers of training are the same,
// memory or messages are not.
#include <vector>

#include "train/objections.hpp"

namespace cpplan::train {

std::vector<Objection> sharding_objections(const plan::Plan&);

}  // namespace cpplan::train
