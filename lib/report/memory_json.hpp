#pragma once
// Memory of a plan: of the framework by formula and of our engine by its meta run, side by side.
#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// {framework, engine, logits_fp32_bytes_per_rank}; either is null where the model is not known.
/// "backward of layer 3, micro-batch 0".
std::string peak_moment(const plan::EngineMemory& memory);

Json memory_json(const plan::Plan& plan);

}  // namespace cpplan::report
