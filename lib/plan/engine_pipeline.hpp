#pragma once
// How our engine's pipeline holds the layers and passes the micro-batches: 1F1B, or interleaved.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

struct PipelineSettings {
  int virtual_stages = 1;         // model chunks of each stage; above 1: interleaved 1F1B
  std::vector<int> stage_layers;  // of each virtual stage: chunk v of stage p is v * stages + p
};

/// What a setting asks of the engine and does not get. The place is that of the setting, if any.
struct Refusal {
  diag::Span span;
  std::string problem, why, help;
  /// "problem (why). help"
  std::string message() const;
};

/// Model chunks that a stage is to hold: cpplan.run.schedule and cpplan.run.virtual_stages, else
/// Megatron's virtual stages.
Index requested_chunks(const Plan&);

/// Refusal: one stage, layers that do not divide over the virtual stages, or micro-batches that do
/// not fill groups of the stages.
tl::expected<PipelineSettings, Refusal> pipeline_of(const Plan&);

}  // namespace cpplan::plan
