#pragma once
// What the config's framework cuts over data-parallel ranks, read once for its memory and for the
// engine that runs it.
#include "plan/memory_settings.hpp"

namespace cpplan::plan {

struct FrameworkSharding {
  Sharding sharding = Sharding::none;
  bool keeps_gathered = false;      // parameters stay whole between forward and backward
  bool overlaps_gradients = false;  // they are reduced while backward goes on
  Index replicate = 1;              // copies of what is cut
  diag::Span span, replicate_span;  // of the settings that say so
};

FrameworkSharding framework_sharding(const Plan&);

}  // namespace cpplan::plan
