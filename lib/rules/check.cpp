#include "rules/check.hpp"

#include "rules/areas.hpp"

namespace cpplan::rules {

diag::Diagnostics check(const plan::Plan& plan) {
  diag::Diagnostics findings;
  check_world(plan, findings);
  check_data_parallel(plan, findings);
  check_model(plan, findings);
  check_sequence(plan, findings);
  check_pipeline(plan, findings);
  check_run(plan, findings);
  return findings;
}

}  // namespace cpplan::rules
