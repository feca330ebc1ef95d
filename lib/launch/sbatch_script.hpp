#pragma once
// A job script for SLURM's sbatch: the numbers of a plan, the site's options, and what a job must
// do to be stopped and put back into the queue. Pure.
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/plan.hpp"

namespace cpplan::launch {

/// What the script starts: our engine's ranks, or the line of a framework's launcher, once a node.
/// FIRST_HOST in that line stands for the host where its ranks meet.
struct BatchProgram {
  std::optional<std::string> framework_line;
  std::vector<std::string> config_flags;  // of the plan: "--set", "a=b", "--with", "x.yaml"
};

/// Nodes of equal size that hold the world.
struct NodeShape {
  Index nodes = 1, ranks_per_node = 1;
};
/// Error: the plan does not say how many GPUs (or ranks) a node has, or they do not divide the
/// world.
Result<NodeShape> node_shape(const plan::Plan&);

/// Errors: those of node_shape(); flags that a framework would not see.
Result<std::string> sbatch_script(const plan::Plan&, const BatchProgram&);

}  // namespace cpplan::launch
