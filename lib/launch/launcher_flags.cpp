// From the manuals of Open MPI 4.1 and 5 (mpirun), SLURM 22.05 (srun), PyTorch 2 (torchrun) and
// accelerate 1.
#include "launch/launcher_flags.hpp"

#include <algorithm>
#include <array>

namespace cpplan::launch {
namespace {
using enum Meaning;

// clang-format off
constexpr std::array mpirun_flags = {
    LauncherFlag{"n", 1, ranks}, LauncherFlag{"np", 1, ranks}, LauncherFlag{"c", 1, ranks},
    LauncherFlag{"host", 1, hosts}, LauncherFlag{"H", 1, hosts},
    LauncherFlag{"hostfile", 1, host_file}, LauncherFlag{"machinefile", 1, host_file}, LauncherFlag{"default-hostfile", 1, host_file},
    LauncherFlag{"npernode", 1, ranks_per_node}, LauncherFlag{"N", 1, ranks_per_node}, LauncherFlag{"pernode", 0, one_rank_per_node},
    LauncherFlag{"map-by", 1, placement}, LauncherFlag{"oversubscribe", 0, more_ranks_than_slots},
    LauncherFlag{"allow-run-as-root", 0, root_allowed},
    LauncherFlag{"mca", 2}, LauncherFlag{"gmca", 2}, LauncherFlag{"omca", 2}, LauncherFlag{"prtemca", 2}, LauncherFlag{"pmixmca", 2},
    LauncherFlag{"rank-by", 1}, LauncherFlag{"bind-to", 1}, LauncherFlag{"x", 1}, LauncherFlag{"wdir", 1}, LauncherFlag{"wd", 1},
    LauncherFlag{"prefix", 1}, LauncherFlag{"output-filename", 1}, LauncherFlag{"output", 1}, LauncherFlag{"timeout", 1}, LauncherFlag{"path", 1},
    LauncherFlag{"app", 1}, LauncherFlag{"rankfile", 1}, LauncherFlag{"rf", 1}, LauncherFlag{"tune", 1}, LauncherFlag{"am", 1},
    LauncherFlag{"stdin", 1}, LauncherFlag{"xterm", 1}, LauncherFlag{"npersocket", 1}, LauncherFlag{"cpus-per-proc", 1},
    LauncherFlag{"cpus-per-rank", 1}, LauncherFlag{"cpu-set", 1}, LauncherFlag{"cpu-list", 1}, LauncherFlag{"launch-agent", 1},
    LauncherFlag{"display", 1}, LauncherFlag{"runtime-options", 1}, LauncherFlag{"personality", 1}, LauncherFlag{"report-pid", 1}, LauncherFlag{"report-uri", 1},
    LauncherFlag{"tag-output"}, LauncherFlag{"timestamp-output"}, LauncherFlag{"report-bindings"}, LauncherFlag{"display-map"},
    LauncherFlag{"display-devel-map"}, LauncherFlag{"display-allocation"}, LauncherFlag{"nooversubscribe"}, LauncherFlag{"nolocal"},
    LauncherFlag{"bynode"}, LauncherFlag{"byslot"}, LauncherFlag{"bind-to-core"}, LauncherFlag{"bind-to-none"}, LauncherFlag{"q"},
    LauncherFlag{"quiet"}, LauncherFlag{"v"}, LauncherFlag{"verbose"}, LauncherFlag{"V"}, LauncherFlag{"version"}, LauncherFlag{"d"},
    LauncherFlag{"use-hwthread-cpus"}, LauncherFlag{"show-progress"}, LauncherFlag{"merge-stderr-to-stdout"}, LauncherFlag{"continuous"},
    LauncherFlag{"enable-recovery"}, LauncherFlag{"disable-recovery"}, LauncherFlag{"get-stack-traces"}, LauncherFlag{"do-not-launch"},
    LauncherFlag{"leave-session-attached"}, LauncherFlag{"noprefix"}, LauncherFlag{"novm"}, LauncherFlag{"report-child-jobs-separately"},
};

constexpr std::array srun_flags = {
    LauncherFlag{"n", 1, ranks}, LauncherFlag{"ntasks", 1, ranks}, LauncherFlag{"N", 1, nodes}, LauncherFlag{"nodes", 1, nodes},
    LauncherFlag{"ntasks-per-node", 1, ranks_per_node}, LauncherFlag{"w", 1, hosts}, LauncherFlag{"nodelist", 1, hosts},
    LauncherFlag{"F", 1, host_file}, LauncherFlag{"nodefile", 1, host_file}, LauncherFlag{"gpus-per-node", 1, gpus_per_node}, LauncherFlag{"mpi", 1, mpi_plugin},
    LauncherFlag{"A", 1}, LauncherFlag{"account", 1}, LauncherFlag{"p", 1}, LauncherFlag{"partition", 1}, LauncherFlag{"J", 1}, LauncherFlag{"job-name", 1},
    LauncherFlag{"t", 1}, LauncherFlag{"time", 1}, LauncherFlag{"time-min", 1}, LauncherFlag{"c", 1}, LauncherFlag{"cpus-per-task", 1},
    LauncherFlag{"G", 1}, LauncherFlag{"gpus", 1}, LauncherFlag{"gpus-per-task", 1}, LauncherFlag{"gpus-per-socket", 1}, LauncherFlag{"gres", 1},
    LauncherFlag{"ntasks-per-gpu", 1}, LauncherFlag{"ntasks-per-core", 1}, LauncherFlag{"ntasks-per-socket", 1}, LauncherFlag{"x", 1},
    LauncherFlag{"exclude", 1}, LauncherFlag{"C", 1}, LauncherFlag{"constraint", 1}, LauncherFlag{"q", 1}, LauncherFlag{"qos", 1}, LauncherFlag{"o", 1},
    LauncherFlag{"output", 1}, LauncherFlag{"e", 1}, LauncherFlag{"error", 1}, LauncherFlag{"i", 1}, LauncherFlag{"input", 1}, LauncherFlag{"D", 1},
    LauncherFlag{"chdir", 1}, LauncherFlag{"mem", 1}, LauncherFlag{"mem-per-cpu", 1}, LauncherFlag{"mem-per-gpu", 1}, LauncherFlag{"cpu-bind", 1},
    LauncherFlag{"mem-bind", 1}, LauncherFlag{"gpu-bind", 1}, LauncherFlag{"gpu-freq", 1}, LauncherFlag{"m", 1}, LauncherFlag{"distribution", 1}, LauncherFlag{"jobid", 1},
    LauncherFlag{"reservation", 1}, LauncherFlag{"export", 1}, LauncherFlag{"container-image", 1}, LauncherFlag{"container-mounts", 1},
    LauncherFlag{"container-name", 1}, LauncherFlag{"container-workdir", 1}, LauncherFlag{"container-env", 1}, LauncherFlag{"W", 1}, LauncherFlag{"wait", 1}, LauncherFlag{"signal", 1},
    LauncherFlag{"threads", 1}, LauncherFlag{"begin", 1}, LauncherFlag{"comment", 1}, LauncherFlag{"d", 1}, LauncherFlag{"dependency", 1},
    LauncherFlag{"network", 1}, LauncherFlag{"hint", 1}, LauncherFlag{"r", 1}, LauncherFlag{"relative", 1}, LauncherFlag{"het-group", 1}, LauncherFlag{"B", 1},
    LauncherFlag{"accel-bind", 1}, LauncherFlag{"tres-per-task", 1}, LauncherFlag{"cores-per-socket", 1}, LauncherFlag{"switches", 1}, LauncherFlag{"L", 1}, LauncherFlag{"licenses", 1},
    LauncherFlag{"open-mode", 1}, LauncherFlag{"prolog", 1}, LauncherFlag{"epilog", 1}, LauncherFlag{"task-prolog", 1}, LauncherFlag{"task-epilog", 1}, LauncherFlag{"tmp", 1}, LauncherFlag{"M", 1}, LauncherFlag{"clusters", 1},
    LauncherFlag{"l"}, LauncherFlag{"label"}, LauncherFlag{"u"}, LauncherFlag{"unbuffered"}, LauncherFlag{"O"}, LauncherFlag{"overcommit"}, LauncherFlag{"s"},
    LauncherFlag{"oversubscribe"}, LauncherFlag{"exclusive"}, LauncherFlag{"overlap"}, LauncherFlag{"v"}, LauncherFlag{"verbose"}, LauncherFlag{"Q"},
    LauncherFlag{"quiet"}, LauncherFlag{"pty"}, LauncherFlag{"k"}, LauncherFlag{"no-kill"}, LauncherFlag{"K"}, LauncherFlag{"kill-on-bad-exit"}, LauncherFlag{"Z"},
    LauncherFlag{"no-allocate"}, LauncherFlag{"E"}, LauncherFlag{"preserve-env"}, LauncherFlag{"H"}, LauncherFlag{"hold"}, LauncherFlag{"I"},
    LauncherFlag{"immediate"}, LauncherFlag{"X"}, LauncherFlag{"disable-status"}, LauncherFlag{"exact"}, LauncherFlag{"contiguous"}, LauncherFlag{"multi-prog"},
    LauncherFlag{"bcast"}, LauncherFlag{"use-min-nodes"}, LauncherFlag{"spread-job"}, LauncherFlag{"whole"}, LauncherFlag{"container-mount-home"}, LauncherFlag{"no-container-mount-home"}, LauncherFlag{"container-writable"},
};

constexpr std::array torchrun_flags = {
    LauncherFlag{"nnodes", 1, nodes}, LauncherFlag{"nproc-per-node", 1, ranks_per_node}, LauncherFlag{"node-rank", 1, node_rank},
    LauncherFlag{"rdzv-endpoint", 1, rendezvous}, LauncherFlag{"master-addr", 1, rendezvous}, LauncherFlag{"standalone", 0, standalone},
    LauncherFlag{"rdzv-backend", 1}, LauncherFlag{"rdzv-id", 1}, LauncherFlag{"rdzv-conf", 1}, LauncherFlag{"max-restarts", 1},
    LauncherFlag{"monitor-interval", 1}, LauncherFlag{"start-method", 1}, LauncherFlag{"role", 1}, LauncherFlag{"log-dir", 1},
    LauncherFlag{"r", 1}, LauncherFlag{"redirects", 1}, LauncherFlag{"t", 1}, LauncherFlag{"tee", 1}, LauncherFlag{"local-addr", 1},
    LauncherFlag{"master-port", 1}, LauncherFlag{"local-ranks-filter", 1}, LauncherFlag{"logs-specs", 1}, LauncherFlag{"event-log-handler", 1}, LauncherFlag{"numa-binding", 1}, LauncherFlag{"signals-to-handle", 1},
    LauncherFlag{"m"}, LauncherFlag{"module"}, LauncherFlag{"no-python"}, LauncherFlag{"run-path"}, LauncherFlag{"use-env"}, LauncherFlag{"virtual-local-rank"},
};

constexpr std::array accelerate_flags = {
    LauncherFlag{"num-processes", 1, ranks}, LauncherFlag{"num-machines", 1, nodes}, LauncherFlag{"machine-rank", 1, node_rank},
    LauncherFlag{"main-process-ip", 1, rendezvous}, LauncherFlag{"config-file", 1, config_file},
    LauncherFlag{"main-process-port", 1}, LauncherFlag{"mixed-precision", 1}, LauncherFlag{"dynamo-backend", 1}, LauncherFlag{"dynamo-mode", 1},
    LauncherFlag{"gpu-ids", 1}, LauncherFlag{"num-cpu-threads-per-process", 1}, LauncherFlag{"rdzv-backend", 1}, LauncherFlag{"rdzv-conf", 1},
    LauncherFlag{"max-restarts", 1}, LauncherFlag{"monitor-interval", 1}, LauncherFlag{"role", 1}, LauncherFlag{"log-dir", 1}, LauncherFlag{"zero-stage", 1},
    LauncherFlag{"deepspeed-config-file", 1}, LauncherFlag{"deepspeed-hostfile", 1}, LauncherFlag{"deepspeed-multinode-launcher", 1},
    LauncherFlag{"gradient-accumulation-steps", 1}, LauncherFlag{"gradient-clipping", 1}, LauncherFlag{"offload-optimizer-device", 1}, LauncherFlag{"offload-param-device", 1},
    LauncherFlag{"zero3-init-flag", 1}, LauncherFlag{"zero3-save-16bit-model", 1}, LauncherFlag{"downcast-bf16", 1}, LauncherFlag{"tee", 1}, LauncherFlag{"main-training-function", 1},
    LauncherFlag{"m"}, LauncherFlag{"module"}, LauncherFlag{"no-python"}, LauncherFlag{"same-network"}, LauncherFlag{"multi-gpu"}, LauncherFlag{"cpu"}, LauncherFlag{"tpu"},
    LauncherFlag{"use-deepspeed"}, LauncherFlag{"use-fsdp"}, LauncherFlag{"use-megatron-lm"}, LauncherFlag{"use-parallelism-config"}, LauncherFlag{"debug"},
    LauncherFlag{"q"}, LauncherFlag{"quiet"}, LauncherFlag{"enable-cpu-affinity"}, LauncherFlag{"dynamo-use-dynamic"}, LauncherFlag{"dynamo-use-fullgraph"}, LauncherFlag{"ipex"}, LauncherFlag{"use-xpu"},
};
// clang-format on

/// accelerate's families of settings, each with a value: --fsdp_sharding_strategy FULL_SHARD.
constexpr std::string_view families[] = {"fsdp-", "megatron-lm-", "parallelism-config-"};
constexpr LauncherFlag of_a_family = {"", 1, other};

std::span<const LauncherFlag> flags_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::mpirun:
      return mpirun_flags;
    case Launcher::srun:
      return srun_flags;
    case Launcher::torchrun:
      return torchrun_flags;
    case Launcher::accelerate:
      return accelerate_flags;
  }
  return {};
}

/// The first flag with that meaning; torchrun counts the ranks of a node where others count all.
const LauncherFlag* flag_that_says(Launcher launcher, Meaning meaning) {
  const auto flags = flags_of(launcher);
  const auto found = std::ranges::find_if(flags, [meaning](const LauncherFlag& flag) {
    return flag.meaning == meaning && flag.name.size() > 1;
  });
  if (found != flags.end()) return &*found;
  return meaning == ranks ? flag_that_says(launcher, ranks_per_node) : nullptr;
}

}  // namespace

std::string_view name_of(Launcher launcher) {
  constexpr std::string_view names[] = {"mpirun", "srun", "torchrun", "accelerate launch"};
  return names[static_cast<int>(launcher)];
}

const LauncherFlag* find_flag(Launcher launcher, std::string_view name) {
  const auto flags = flags_of(launcher);
  const auto found = std::ranges::find(flags, name, &LauncherFlag::name);
  if (found != flags.end()) return &*found;
  const bool family = launcher == Launcher::accelerate &&
                      std::ranges::any_of(families, [&](std::string_view prefix) {
                        return name.starts_with(prefix);
                      });
  return family ? &of_a_family : nullptr;
}

std::vector<std::string_view> flag_names(Launcher launcher) {
  std::vector<std::string_view> names;
  for (const LauncherFlag& flag : flags_of(launcher))
    if (flag.name.size() > 1) names.push_back(flag.name);
  return names;
}

std::optional<BorrowedFlag> borrowed_flag(Launcher launcher, std::string_view name) {
  if (find_flag(launcher, name)) return std::nullopt;
  for (const Launcher owner :
       {Launcher::mpirun, Launcher::srun, Launcher::torchrun, Launcher::accelerate}) {
    const LauncherFlag* flag = find_flag(owner, name);
    if (flag && flag->meaning != other)
      return BorrowedFlag{owner, flag_that_says(launcher, flag->meaning)};
  }
  return std::nullopt;
}

}  // namespace cpplan::launch
