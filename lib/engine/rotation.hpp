#pragma once
// By how much rotary positions turn queries and keys: the model's rope_scaling as numbers.
#include <optional>
#include <string>
#include <vector>

#include "model/model_spec.hpp"

namespace cpplan::engine {

/// Pair j of a head turns by position * frequencies[j] and grows by magnitude.
struct Rotation {
  std::vector<double> frequencies;  // head_dim / 2
  double magnitude = 1;
};

/// As transformers computes them: default; linear (arXiv 2306.15595); llama3, which slows what
/// turns less than once in the original context (arXiv 2407.21783); yarn, "NTK by parts" (arXiv
/// 2309.00071). Contract: why_no_rotation() has nothing to say.
Rotation rotation_of(const model::ModelSpec&);

/// Why rotation_of() cannot be had of the model, with what would work: a type that is not one of
/// those, or numbers without which it cannot be computed.
std::optional<std::string> why_no_rotation(const model::ModelSpec&);

}  // namespace cpplan::engine
