#pragma once
// What srun (SLURM 20.11 and later) prints: the tasks' lines under labels, and how tasks ended.
#include <optional>
#include <string_view>

#include "launch/mpirun_output.hpp"

namespace cpplan::launch {

/// " 5: text" of --label: a line of rank 5. No rank: srun's own, or its daemon's on a node.
TaggedLine parse_labelled(std::string_view line, Stream stream);

/// The first line of the kind "srun: error: node2: task 5: Killed", or "tasks 0-3: Exited with exit
/// code 2": of these the first.
std::optional<Notice> parse_srun_notice(std::string_view own_output);

}  // namespace cpplan::launch
