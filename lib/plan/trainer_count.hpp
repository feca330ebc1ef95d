#pragma once
// From what the framework counts to what its trainer runs.
#include "plan/plan.hpp"
#include "plan/step_formulas.hpp"

namespace cpplan::plan {

inline constexpr double largest_count = 9007199254740992.0;  // 2^53: every count below is exact

/// A count of steps; a fraction is run until it is exceeded. None where a trainer cannot count so.
std::optional<Index> usable_count(double value);

/// What the trainer does without a count: epochs of its own steps. None where those are not known.
std::optional<Index> steps_by_epochs(const Steps&);

/// Fills steps_per_epoch from the micro-batches of an epoch.
void set_steps_of_epoch(Index batches, const Batch&, LastBatch, Steps&);

/// Takes the framework's value as it is, or the trainer's epochs where it is no count of steps.
void take_value(double value, std::string formula, Steps&);

}  // namespace cpplan::plan
