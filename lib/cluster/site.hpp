#pragma once
// What stands around a run on this machine: programs, devices, libraries, limits. Looked up here
// and judged elsewhere, so that a test can make up a site.
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "cluster/machine.hpp"

namespace cpplan::cluster {

/// A program of PATH, and the first line that it prints of itself.
struct Program {
  std::string path, version;
};

struct SharedMemory {
  Bytes total, available;
};

/// Soft limits of this process; none: unlimited.
struct Limits {
  std::optional<Index> open_files, processes;
  std::optional<Bytes> locked_memory;
};

struct Site {
  std::string host;
  std::optional<Machine> machine;
  std::optional<Program> mpirun, srun, sbatch;
  std::string srun_mpi_types;                 // what `srun --mpi=list` prints
  std::optional<SharedMemory> shared_memory;  // /dev/shm
  Limits limits;
  Index gpus = 0;                                     // NVIDIA device files
  std::string driver_version;                         // of the kernel module; empty without one
  bool driver_library = false, nccl_library = false;  // libcuda.so.1 and libnccl.so.2 can be loaded
  std::vector<std::string> cuda_devices;              // that the plug-in computes on
  std::string cuda_problem;                           // why there are none
  std::string nccl_version;  // of the plug-in; empty where it does not load
  std::string nccl_problem;  // why it does not
  bool infiniband = false;
  bool shares_address_spaces = true;  // a rank may read the memory of another (yama's ptrace_scope)
};

Site this_site();

/// Of this host, as gethostname() gives it.
std::string host_name();
/// What `srun --mpi=list` prints; empty where there is no srun.
std::string srun_mpi_types();
/// Devices through which Open MPI reaches other hosts better than through TCP.
bool has_infiniband();

}  // namespace cpplan::cluster
