#pragma once
// The command lines that start ranks on several hosts, or through SLURM: such ranks report in their
// output. Pure.
#include <string>
#include <vector>

#include "cluster/environment.hpp"
#include "launch/command.hpp"
#include "launch/placement.hpp"

namespace cpplan::launch {

struct ClusterCommand {
  Placement placement;
  std::string executable;              // absolute, and there on every host
  std::vector<std::string> arguments;  // of cpplan
  User user = User::other;
  /// "eth1" or "10.0.0.0/24": over which hosts talk; empty: Open MPI decides.
  std::string network;
  bool infiniband = false;        // then Open MPI decides what messages take
  std::string mpi_type = "pmix";  // of srun --mpi
  cluster::Variables ours = {};   // parameters of Open MPI (OMPI_MCA_...) in it stay as they are
};

/// Open MPI's mpirun, which starts as many ranks on each host as the placement says.
Command mpirun_over_hosts(const ClusterCommand&);

/// SLURM's srun, inside an allocation that has those hosts.
Command srun_command(const ClusterCommand&);

/// Of what `srun --mpi=list` prints, the type through which ranks of Open MPI learn which they are:
/// "pmix". Error: it is not among them.
Result<std::string> best_mpi_type(std::string_view listed);

}  // namespace cpplan::launch
