#include "app/rank_launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/exit_code.hpp"
#include "app/run_steps.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "cluster/environment.hpp"
#include "cluster/network.hpp"
#include "cluster/numa.hpp"
#include "cluster/site.hpp"
#include "launch/cluster_command.hpp"
#include "launch/rank_map.hpp"

namespace cpplan::app {
namespace {

using launch::Host;
using launch::Launcher;

/// Of the allocation, with as many slots as it has tasks on each.
std::vector<Host> hosts_of(const cluster::Environment& environment) {
  std::vector<Host> hosts;
  const auto& tasks = environment.tasks_per_node;
  for (std::size_t i = 0; i < environment.hosts.size(); ++i)
    hosts.push_back({environment.hosts[i], tasks.size() == environment.hosts.size()
                                               ? std::optional(tasks[i])
                                               : std::nullopt});
  return hosts;
}

Result<std::vector<Host>> read_hostfile(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return launch::parse_hostfile(*text);
}

Result<std::vector<Host>> choose_hosts(const RunOptions& options, Launcher launcher,
                                       const cluster::Environment& environment) {
  if (options.hosts) return launch::parse_hosts(*options.hosts);
  if (options.hostfile) return read_hostfile(*options.hostfile);
  const bool several = environment.hosts.size() > 1;
  if (launcher == Launcher::srun || several) return hosts_of(environment);
  return std::vector<Host>{{cluster::host_name(), std::nullopt}};
}

/// srun inside an allocation of SLURM, unless hosts are named: those are mpirun's to start on.
Result<Launcher> choose_launcher(const RunOptions& options,
                                 const cluster::Environment& environment) {
  const bool allocated = !environment.hosts.empty();
  if (options.launcher == LauncherChoice::srun && !allocated)
    return failure(
        "srun starts ranks inside an allocation, and this is none (SLURM_JOB_NODELIST is not set). "
        "get one with salloc, or use --launcher mpirun");
  if (options.launcher == LauncherChoice::srun) return Launcher::srun;
  const bool named = options.hosts || options.hostfile;
  const bool automatic = options.launcher == LauncherChoice::automatic;
  return automatic && allocated && !named ? Launcher::srun : Launcher::mpirun;
}

Result<launch::Placement> place(const std::vector<Host>& hosts, Index world, Launcher launcher) {
  auto placement = launch::Placement::fill(hosts, world);
  if (placement || launcher != Launcher::srun) return placement;
  Index tasks = 0;
  for (const Host& host : hosts) tasks += host.slots.value_or(0);
  return failure(fmt::format(
      "the allocation has {} {}, and the plan {} ranks (each rank is a task). ask for --ntasks={}, "
      "or use --launcher mpirun --hosts {}:{}",
      tasks, tasks == 1 ? "task" : "tasks", world, world, hosts.front().name,
      ceil_div(world, static_cast<Index>(hosts.size()))));
}

bool is_here(const launch::Placement& placement, const std::string& host) {
  return placement.shares().size() == 1 && (placement.shares().front().host == host ||
                                            placement.shares().front().host == "localhost");
}

std::string executable() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::vector<std::string> arguments_of_ranks(const RunOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  std::erase(arguments, "--dry-run");
  return arguments;
}

launch::User user() {
  return geteuid() == 0 ? launch::User::root : launch::User::other;
}

/// The one named, else that of the first host which is not ours. A network of the host itself, as
/// its other names may have it, reaches nobody else.
std::string network_of(const RankLaunch& launch, const RunOptions& options) {
  if (options.interface) return *options.interface;
  for (const auto& share : launch.placement.shares()) {
    if (share.host == launch.host) continue;
    auto network = cluster::network_towards(share.host);
    if (network && !network->starts_with("127.")) return std::move(*network);
  }
  return "";
}

/// A dry run may be made where there is no device.
launch::Devices devices_of(const RunOptions& options, const plan::Plan& plan) {
  const auto backend = backend_of(options, plan);
  const bool asked = options.backend == device::BackendChoice::cuda;
  return asked || (backend && *backend == device::Backend::cuda) ? launch::Devices::one_a_rank
                                                                 : launch::Devices::none;
}

Json to_json(const launch::Command& command) {
  Json environment = Json::object();
  for (const auto& [name, value] : command.environment) environment[name] = value;
  return Json::Object{{"arguments", command.arguments}, {"environment", std::move(environment)}};
}

}  // namespace

Index RankLaunch::ranks_here() const {
  if (watched == record::WatchedThrough::folder) return placement.world();
  for (const auto& share : placement.shares())
    if (share.host == host) return share.ranks;
  return 0;
}

Result<RankLaunch> choose_launch(const RunOptions& options, const plan::Plan& plan) {
  const auto environment = cluster::read_environment(cluster::process_variables());
  const auto launcher = choose_launcher(options, environment);
  if (!launcher) return tl::unexpected(launcher.error());
  const auto hosts = choose_hosts(options, *launcher, environment);
  if (!hosts) return tl::unexpected(hosts.error());
  auto placement = place(*hosts, plan.layout.dims.world(), *launcher);
  if (!placement) return tl::unexpected(placement.error());
  const std::string host = cluster::host_name();
  const bool folder = *launcher == Launcher::mpirun && is_here(*placement, host);
  using record::WatchedThrough;
  return RankLaunch{*launcher, std::move(*placement),
                    folder ? WatchedThrough::folder : WatchedThrough::output, host};
}

Result<launch::Command> command_of(const RankLaunch& launch, const RunOptions& options,
                                   const record::RunFolder& folder) {
  if (launch.watched == record::WatchedThrough::folder)
    return launch::mpirun_command({.world = static_cast<int>(launch.placement.world()),
                                   .executable = executable(),
                                   .arguments = arguments_of_ranks(options),
                                   .folder = folder,
                                   .user = user()});
  launch::ClusterCommand ranks{.placement = launch.placement,
                               .executable = executable(),
                               .arguments = arguments_of_ranks(options),
                               .user = user(),
                               .network = network_of(launch, options),
                               .infiniband = cluster::has_infiniband(),
                               .ours = cluster::process_variables()};
  if (launch.launcher == Launcher::mpirun) return launch::mpirun_over_hosts(ranks);
  const auto type = launch::best_mpi_type(cluster::srun_mpi_types());
  if (!type) return tl::unexpected(type.error());
  ranks.mpi_type = *type;
  return launch::srun_command(ranks);
}

int dry_run(const RunOptions& options, const plan::Plan& plan) {
  const auto launch = choose_launch(options, plan);
  if (!launch) return stop_with(environment, launch.error().message);
  const auto command = command_of(*launch, options, {"/dev/shm/cpplan-XXXXXX"});
  if (!command) return stop_with(environment, command.error().message);
  const layout::Ranks ranks(plan.layout.dims, plan.layout.order);
  const auto map = launch::map_ranks(ranks, launch->placement, devices_of(options, plan),
                                     {launch->host, cluster::numa_nodes().size()});
  if (options.format == RunFormat::json) {
    const Json document = Json::Object{{"schema", "cpplan/launch/1"},
                                       {"launcher", launch::name_of(launch->launcher)},
                                       {"command", to_json(*command)},
                                       {"ranks", launch::to_json(map)}};
    print_now(document.dump() + "\n");
    return ok;
  }
  print_now(launch::shell_line(*command) + "\n" + launch::to_text(map));
  return ok;
}

}  // namespace cpplan::app
