#include "launch/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cpplan::launch {
namespace {
using cluster::Environment;
using cluster::Site;

/// Open MPI's segment of a rank, through which others of its host reach it.
constexpr Bytes segment_of_rank{4 << 20};
/// Below it a rank with a socket to each of many others, its files and pipes, runs out of them.
constexpr Index few_open_files = 1024;
constexpr Bytes little_locked_memory{Index{1} << 30};

Examined examine_machine(const Site& site) {
  if (!site.machine) return {"machine", Health::concern, "its memory is not known", "mount /proc"};
  return {"machine", Health::good,
          fmt::format("{}: {} cores, {} of {} memory available", site.host, site.machine->cores,
                      human_bytes(site.machine->available_memory),
                      human_bytes(site.machine->total_memory)),
          ""};
}

Examined examine_mpi(const Site& site) {
  if (!site.mpirun)
    return {"MPI", Health::problem, "no mpirun in PATH",
            "install Open MPI (Debian: openmpi-bin), or load the site's module"};
  const std::string found = fmt::format("{} ({})", site.mpirun->version, site.mpirun->path);
  if (site.mpirun->version.find("Open MPI") == std::string::npos)
    return {"MPI", Health::concern, found,
            "ranks are started with the parameters of Open MPI: put its mpirun first in PATH"};
  return {"MPI", Health::good, found, ""};
}

Examined examine_launcher(const Site& site, const Environment& environment) {
  const bool allocated = !environment.hosts.empty() || !environment.tasks_per_node.empty();
  if (!site.srun)
    return allocated ? Examined{"launcher", Health::problem,
                                "inside a SLURM allocation, and no srun in PATH",
                                "load the site's SLURM module"}
                     : Examined{"launcher", Health::good, "mpirun (no SLURM here)", ""};
  const bool pmix = site.srun_mpi_types.find("pmix") != std::string::npos;
  const std::string found =
      fmt::format("{} ({}){}", site.srun->version, site.srun->path,
                  allocated ? ", inside an allocation" : ", outside of an allocation");
  if (!pmix)
    return {"launcher", Health::concern, found + ", without PMIx",
            "start ranks with mpirun inside the allocation: srun's would not find each other"};
  return {"launcher", Health::good, found + ", with PMIx", ""};
}

/// What the plug-in can compute on comes before what the system says.
Examined examine_gpus(const Site& site) {
  if (!site.cuda_devices.empty())
    return {
        "GPUs", Health::good,
        fmt::format("{} for ranks: {}", site.cuda_devices.size(), join(site.cuda_devices, ", ")),
        ""};
  if (site.gpus == 0 && site.driver_version.empty())
    return {"GPUs", Health::good, "none: ranks compute on the CPU", ""};
  if (site.gpus == 0)
    return {"GPUs", Health::concern,
            fmt::format("driver {} but no device file", site.driver_version),
            "ask for GPUs (--gpus-per-node), or give the container --gpus all"};
  const std::string found = fmt::format("{} of NVIDIA, driver {}", site.gpus, site.driver_version);
  if (!site.driver_library)
    return {"GPUs", Health::problem, found + ", and libcuda.so.1 cannot be loaded",
            "install the user part of that driver, or start the container with it"};
  if (!site.cuda_problem.empty())
    return {"GPUs", Health::concern, found + "; ranks compute on the CPU", site.cuda_problem};
  return {"GPUs", Health::good, found, ""};
}

/// The plug-in is what a run opens; the library alone is not enough.
Examined examine_nccl(const Site& site) {
  if (!site.nccl_version.empty())
    return {"NCCL", Health::good, fmt::format("{}, by the plug-in", site.nccl_version), ""};
  const std::string found =
      site.nccl_library ? "libnccl.so.2 can be loaded, and not the plug-in" : "not there";
  if (site.gpus < 2) return {"NCCL", Health::good, found + ": not needed", ""};
  return {"NCCL", Health::concern, fmt::format("{}, beside {} GPUs", found, site.gpus),
          site.nccl_library ? site.nccl_problem
                            : "install it (Debian: libnccl2), else tensors go by way of the host"};
}

Examined examine_shared_memory(const Site& site) {
  if (!site.shared_memory)
    return {"shared memory", Health::problem, "no /dev/shm",
            "mount a tmpfs there: ranks of one host talk through it"};
  const Bytes available = site.shared_memory->available;
  const Index cores = site.machine ? site.machine->cores : 1;
  const Index ranks = std::max(std::max<Index>(cores, site.gpus), Index{8});
  const std::string found = fmt::format("/dev/shm has {} of {} available", human_bytes(available),
                                        human_bytes(site.shared_memory->total));
  if (available >= ranks * segment_of_rank) return {"shared memory", Health::good, found, ""};
  return {"shared memory", Health::problem, found,
          fmt::format("{} ranks need {}: start the container with --shm-size=1g", ranks,
                      human_bytes(ranks * segment_of_rank))};
}

Examined examine_open_files(const Site& site) {
  const auto& files = site.limits.open_files;
  if (!files) return {"open files", Health::good, "unlimited", ""};
  if (*files >= few_open_files) return {"open files", Health::good, with_thousands(*files), ""};
  return {"open files", Health::concern, with_thousands(*files),
          fmt::format("raise it: ulimit -n {}", few_open_files)};
}

Examined examine_locked_memory(const Site& site) {
  const auto& memory = site.limits.locked_memory;
  if (!memory) return {"locked memory", Health::good, "unlimited", ""};
  if (!site.infiniband || *memory >= little_locked_memory)
    return {"locked memory", Health::good, human_bytes(*memory), ""};
  return {"locked memory", Health::concern,
          fmt::format("{}, beside InfiniBand", human_bytes(*memory)),
          "raise it: ulimit -l unlimited (under SLURM: PropagateResourceLimitsExcept=MEMLOCK)"};
}

Examined examine_copies(const Site& site) {
  if (site.shares_address_spaces)
    return {"messages", Health::good, "ranks of a host read each other's memory", ""};
  return {"messages", Health::concern, "ranks of a host may not read each other's memory",
          "large messages are copied twice: sysctl kernel.yama.ptrace_scope=0 where allowed"};
}

Examined examine_world(const Environment& environment) {
  if (!environment.ranks) return {"world", Health::good, "no launcher says how many ranks", ""};
  return {"world", Health::good,
          fmt::format("{} ranks, says {}", with_thousands(environment.ranks->size),
                      environment.ranks->source),
          ""};
}

}  // namespace

std::string_view name_of(Health health) {
  constexpr std::array<std::string_view, 3> names = {"good", "concern", "problem"};
  return names[static_cast<std::size_t>(health)];
}

std::vector<Examined> examine(const Site& site, const Environment& environment) {
  return {examine_machine(site),     examine_mpi(site),        examine_launcher(site, environment),
          examine_gpus(site),        examine_nccl(site),       examine_shared_memory(site),
          examine_copies(site),      examine_open_files(site), examine_locked_memory(site),
          examine_world(environment)};
}

}  // namespace cpplan::launch
