#pragma once
// What the launcher's environment variables say about the job and this process's place in it. Pure:
// variables come as a map, so that a plan for a cluster can be made (and tested) anywhere.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "cluster/slurm_lists.hpp"
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

/// The rank's number on its node, from which the device index comes (never from the global rank).
struct LocalRank {
  Index number = 0;
  std::string source;
};

struct Environment {
  std::optional<RankCount> ranks;
  std::optional<Index> nodes, gpus_per_node;
  std::vector<Index> tasks_per_node;    // of SLURM; empty where it does not say
  std::vector<std::string> hosts;       // of SLURM, in the order of the ranks
  std::optional<LocalRank> local_rank;  // none outside of a rank
  diag::Diagnostics findings;           // variables that are unreadable or contradict each other

  /// SLURM started one task on each of several nodes: such a task is mostly a launcher (torchrun,
  /// accelerate) that starts a rank for each GPU of its node.
  bool one_task_per_node() const;
};

/// Sources of the ranks in order: WORLD_SIZE, OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_NTASKS or its
/// old name SLURM_NPROCS, SLURM_TASKS_PER_NODE, SLURM_NNODES x SLURM_NTASKS_PER_NODE (srun sets
/// them to its step's).
Environment read_environment(const Variables&);

}  // namespace cpplan::cluster
