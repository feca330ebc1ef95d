// What cpplan.run asks of the engine's pipeline.
#include <fmt/format.h>

#include "plan/engine_pipeline.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {

void check_engine_schedule(const plan::Plan& plan, diag::Diagnostics& findings) {
  const auto& run = plan.config.run;
  const auto& stages = plan.config.run.virtual_stages;
  if (stages.given() && *stages < 1)
    report("CP355", stages, fmt::format("{} is {} (it counts model chunks)", stages.key, *stages))
        .why("every pipeline stage holds one at least")
        .help(fmt::format("use {}: 1", stages.key))
        .to(findings);
  const bool asked = run.schedule.given() || stages.given();
  if (!asked) return;
  const auto pipeline = plan::pipeline_of(plan);
  if (pipeline) return;
  const plan::Refusal& refusal = pipeline.error();
  Report("CP355", place_of(refusal.span, file_of(plan)), refusal.problem)
      .why(refusal.why)
      .help(refusal.help)
      .see(plan.config.parallel.pipeline_parallel_size)
      .to(findings);
}

}  // namespace cpplan::rules
