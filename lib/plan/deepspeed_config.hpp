#pragma once
// What of a DeepSpeed config decides memory.
#include <optional>
#include <string>

#include "base/units.hpp"

namespace cpplan::plan {

struct DeepSpeed {
  Index stage = 0;
  bool offloads_optimizer = false, offloads_parameters = false;
};

/// Of the JSON file at that path where it can be read, else of its name as axolotl ships them
/// ("zero3_bf16_cpuoffload_all.json"). None where neither says a stage.
std::optional<DeepSpeed> read_deepspeed(const std::string& path);

}  // namespace cpplan::plan
