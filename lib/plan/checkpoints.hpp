#pragma once
// Whether a run keeps checkpoints, where, how often and how many, and which one it begins with.
#include "plan/plan.hpp"

namespace cpplan::plan {

/// None where neither a flag nor the config asks for them. The config asks with a folder and an
/// interval (output_dir and save_steps, say; Megatron's save and save_interval) or with a
/// checkpoint to go on from, but not for a run that is a stand-in for its own: of a tiny model, or
/// on made-up text. Wants the steps.
std::optional<Checkpoints> checkpoints_of(const config::TrainingConfig&, const PlanInputs&,
                                          const Steps&);

}  // namespace cpplan::plan
