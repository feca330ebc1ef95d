#pragma once
// What the launcher of the ranks prints, whichever it is: lines of ranks under tags, and its own
// account of a job that went wrong.
#include "launch/launcher_flags.hpp"
#include "launch/mpirun_output.hpp"

namespace cpplan::launch {

/// Contract: mpirun (under --tag-output) or srun (under --label).
TaggedLine parse_tagged(Launcher launcher, std::string_view line, Stream stream);
std::optional<Notice> parse_notice(Launcher launcher, std::string_view own_output);

}  // namespace cpplan::launch
