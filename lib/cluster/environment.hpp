#pragma once
// What the launcher's environment variables say about the size of the job. Pure: variables come as
// a map, so that a plan for a cluster can be made (and tested) anywhere.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "diag/diagnostic.hpp"

namespace cpplan::cluster {

using Variables = std::map<std::string, std::string, std::less<>>;

/// Those of this process.
Variables process_variables();

/// A number of ranks and the variable that gave it: "WORLD_SIZE", "SLURM_NNODES x
/// SLURM_NTASKS_PER_NODE".
struct RankCount {
  Index size = 0;
  std::string source;
};

struct Environment {
  std::optional<RankCount> ranks;
  std::optional<Index> nodes, gpus_per_node;
  std::vector<Index> tasks_per_node;  // of SLURM; empty where it does not say
  diag::Diagnostics findings;         // variables that are unreadable or contradict each other

  /// SLURM started one task on each of several nodes: such a task is mostly a launcher (torchrun,
  /// accelerate) that starts a rank for each GPU of its node.
  bool one_task_per_node() const;
};

/// Sources in order: WORLD_SIZE, OMPI_COMM_WORLD_SIZE, SLURM_NTASKS, SLURM_TASKS_PER_NODE,
/// SLURM_NNODES x SLURM_NTASKS_PER_NODE.
Environment read_environment(const Variables&);

/// "4(x2),3" -> {4, 4, 3}: SLURM's run-length form. Error where the text is not of that form.
Result<std::vector<Index>> parse_tasks_per_node(std::string_view text);

}  // namespace cpplan::cluster
