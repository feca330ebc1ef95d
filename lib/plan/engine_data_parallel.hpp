#pragma once
// How the engine cuts the training state over data-parallel ranks where the config's framework
// does: what cpplan.run.optimizer_sharding says, else FSDP, DeepSpeed or Megatron's settings.
#include "engine/job.hpp"
#include "plan/engine_pipeline.hpp"

namespace cpplan::plan {

/// Refusal: an optimizer_sharding that the engine does not know, or copies that do not divide DP.
tl::expected<engine::DataParallelSettings, Refusal> data_parallel_of(const Plan&);

}  // namespace cpplan::plan
