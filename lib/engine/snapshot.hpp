#pragma once
// What a rank keeps from step to step, and the part of it that it copies to the host for a
// checkpoint: of what several ranks hold the same, one copy.
#include <span>
#include <string>
#include <vector>

#include "engine/parameters.hpp"

namespace cpplan::engine {

/// Names of a parameter's optimizer state are its own and one of these (PyTorch's AdamW has the
/// first two); of weights in the accumulator type, where layers compute in a narrower one.
inline constexpr const char* first_moment_suffix = ".exp_avg";
inline constexpr const char* second_moment_suffix = ".exp_avg_sq";
inline constexpr const char* master_suffix = ".master";

/// Elements [range.first, range.end()) of a rank's shard of a global tensor.
struct StatePart {
  std::string name;
  layout::TensorShard shard;
  layout::ElementRange range;
  kernels::Tensor data;  // contiguous
};

/// Weights, moments and, where they are apart, weights in the accumulator type.
std::vector<StatePart> state_of(const Parameter&);

/// Those that this rank is the first to hold.
std::vector<StatePart> saved_state(std::span<const Parameter>);

/// Room that saved_state() takes on the host, each part aligned as an arena aligns it.
Bytes snapshot_bytes(std::span<const Parameter>);

}  // namespace cpplan::engine
