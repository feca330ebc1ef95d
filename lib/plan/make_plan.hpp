#pragma once
// From a config to a plan, and what of our engine a plan can tell before a rank starts.
#include "cluster/environment.hpp"
#include "engine/job.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// Everything that follows from the config, the flags and the environment in microseconds. Takes
/// any config: a value that cannot be used counts as its default here, and rules/ says what is
/// wrong.
Plan make_plan(const config::TrainingConfig&, const PlanInputs&, const cluster::Environment&);

/// What `cpplan run` would run, except for the capacity of packed sequences, which depends on the
/// data. Error where the plan has no model, or layers that do not fit its stages.
Result<engine::Job> make_job(const Plan&);

/// Fills engine_memory and engine_communication by running one step of the engine on shapes alone,
/// of every rank that differs; or no_engine, where make_job() fails.
void measure_engine(Plan&);

/// Fills engine_flops in the same way, with the documents of --documents where there are any.
void measure_flops(Plan&);

/// Fills `time` by simulating that step on the plan's hardware profile, or `no_time`.
void predict_time(Plan&);

}  // namespace cpplan::plan
