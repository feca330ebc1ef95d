#include "plan/make_plan.hpp"
#include "plan/measured_job.hpp"
#include "plan/step_time.hpp"

namespace cpplan::plan {

void predict_time(Plan& plan) {
  if (!plan.hardware) {
    plan.no_time =
        "no hardware is named: cpplan.cluster.gpu, or --hardware with a profile that cpplan bench "
        "wrote";
    return;
  }
  const auto measured = measured_job(plan);
  const auto time = measured ? predict_step(measured->job, measured->documents, *plan.hardware)
                             : tl::unexpected(measured.error());
  if (time)
    plan.time = *time;
  else
    plan.no_time = time.error().message;
}

}  // namespace cpplan::plan
