#pragma once
// All that decides the numbers of a run, one named value each: what ranks agree on before they
// train, and what tells runs apart.
#include <cstdint>
#include <string>
#include <vector>

#include "train/training_run.hpp"

namespace cpplan::train {

struct Fact {
  std::string name, value;  // "learning_rate", "0.001"
  friend bool operator==(const Fact&, const Fact&) = default;
};
using Facts = std::vector<Fact>;

/// In a fixed order of names, under those of the config where it has one. Numbers are exact.
Facts facts_of(const TrainingRun&);

std::uint64_t hash_of(const Facts&);

/// Of all that decides the run's numbers, and of the checkpoints it keeps.
std::uint64_t hash_of(const TrainingRun&);

}  // namespace cpplan::train
