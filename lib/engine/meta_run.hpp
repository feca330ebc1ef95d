#pragma once
// The very program of a step, run on shapes alone: what a rank will hold, send and compute.
#include <map>
#include <string>
#include <utility>

#include "engine/step_trace.hpp"
#include "engine/trainer.hpp"

namespace cpplan::engine {

struct Traffic {
  Bytes sent;
  Index messages = 0;  // posted
};

/// When a rank holds most at once. Its arenas have their own peaks at moments of their own, so
/// together they are larger.
struct PeakMoment {
  Position at;
  MemoryPlan held;
};

struct Footprint {
  MemoryPlan memory;
  PeakMoment peak;
  std::map<std::pair<std::string, std::string>, Traffic> traffic;  // (group, collective), one step
  Flops flops;                                                     // one step
};

/// Of every micro-batch of the step, in sample order.
using Documents = std::vector<layout::DocumentLength>;
/// One document a sample, which fills the capacity.
Documents dense_documents(const Job& job);

/// One step of the rank at `at`, with dense documents where none are given. Memory and traffic do
/// not depend on the documents; FLOPs of attention do.
Footprint meta_run(const Job& job, layout::Coordinates at);
Footprint meta_run(const Job& job, layout::Coordinates at, const Documents& documents);

/// The same step event by event.
StepTrace trace_step(const Job& job, layout::Coordinates at, const Documents& documents);

}  // namespace cpplan::engine
