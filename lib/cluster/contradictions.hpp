#pragma once
// Launcher variables that cannot all be true.
#include "cluster/variable_reader.hpp"

namespace cpplan::cluster {

/// CP502 among SLURM's own: tasks in all against tasks of each node, nodes against lists of nodes.
void check_slurm(VariableReader&, Environment&, const std::optional<Read>& tasks);

/// CP503: the world size is known, and not by the one name that frameworks read.
void check_world_size_exported(VariableReader&, Environment&);

/// CP506: WORLD_SIZE against the launcher's own count, ranks against the world, local ranks against
/// their node.
void check_world(VariableReader&, Environment&);

/// CP510: several tasks of one step that no process manager has told of each other.
void check_process_manager(VariableReader&, Environment&);

}  // namespace cpplan::cluster
