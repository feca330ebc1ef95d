#pragma once
// What the config's framework cuts over data-parallel ranks, read once for its memory and for the
// engine that runs it.
#include <string>

#include "plan/memory_settings.hpp"

namespace cpplan::plan {

struct FrameworkSharding {
  Sharding sharding = Sharding::none;
  bool keeps_gathered = false;       // parameters stay whole between forward and backward
  bool overlaps_gradients = false;   // they are reduced while backward goes on
  bool overlaps_parameters = false;  // the optimizer's are gathered in the next forward pass
  Index replicate = 1;               // copies of what is cut
  diag::Span span;                   // of the setting that says so
  diag::Span replicate_span;
  std::string replicate_key = "dp_replicate_size";
};

FrameworkSharding framework_sharding(const Plan&);

}  // namespace cpplan::plan
