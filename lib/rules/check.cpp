#include "rules/check.hpp"

#include "rules/areas.hpp"

namespace cpplan::rules {

diag::Diagnostics check(const plan::Plan& plan) {
  diag::Diagnostics findings;
  for (const auto check_area :
       {check_world, check_data_parallel, check_experts, check_model, check_tensor_parallel,
        check_sequence, check_context_parallel, check_pipeline, check_interleaving,
        check_engine_schedule, check_sharding, check_recompute, check_global_batch, check_run,
        check_schedule, check_packing, check_preference, check_memory})
    check_area(plan, findings);
  return findings;
}

}  // namespace cpplan::rules
