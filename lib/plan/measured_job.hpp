#pragma once
// What a plan's meta runs and simulation run: its job, on the documents that are known.
#include "engine/meta_run.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// `documents`: of every micro-batch.
struct MeasuredJob {
  engine::Job job;
  engine::Documents documents;
};

/// Documents of --documents, in every sample, and room for them; else one a sample that fills it.
/// Error as make_job().
Result<MeasuredJob> measured_job(const Plan&);

}  // namespace cpplan::plan
