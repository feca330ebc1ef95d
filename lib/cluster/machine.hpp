#pragma once
// The machine that this process runs on, as far as a plan needs it.
#include <filesystem>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::cluster {

struct Machine {
  Index cores = 1;  // that this process may run on
  Bytes total_memory, available_memory;
};

/// Cores from the affinity mask; memory from /proc/meminfo, lowered to the limit of the control
/// group (v2) where one is set. Error where the kernel does not say.
Result<Machine> this_machine();

/// The same with the files below another root, so that a test can make up a machine.
Result<Machine> machine_below(const std::filesystem::path& root);

}  // namespace cpplan::cluster
