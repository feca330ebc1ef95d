#pragma once
// The very program of a step, run on shapes alone: what a rank will hold, send and compute.
#include <map>
#include <string>
#include <utility>

#include "engine/trainer.hpp"

namespace cpplan::engine {

struct Traffic {
  Bytes sent;
  Index messages = 0;  // transfers started
};

struct Footprint {
  MemoryPlan memory;
  std::map<std::pair<std::string, std::string>, Traffic> traffic;  // (group, collective), one step
  Flops flops;                                                     // one step
};

/// One step of the rank at `at`, with one dense document a sample that fills the capacity. Memory
/// and traffic do not depend on the documents; FLOPs of attention do.
Footprint meta_run(const Job& job, layout::Coordinates at);

}  // namespace cpplan::engine
