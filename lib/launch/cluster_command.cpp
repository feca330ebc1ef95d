#include "launch/cluster_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "launch/started_as.hpp"

namespace cpplan::launch {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

/// Parameters of Open MPI for the ranks. Where there is InfiniBand it knows better than we do.
std::vector<Variable> message_parameters(const ClusterCommand& ranks) {
  // A rank that waits without yielding keeps the core from the one it waits for, and under srun and
  // lists of hosts Open MPI does not see that it must.
  std::vector<Variable> variables = {{"OMPI_MCA_mpi_yield_when_idle", "1"}};
  if (ranks.infiniband) return variables;
  variables.emplace_back("OMPI_MCA_pml", "ob1");
  variables.emplace_back("OMPI_MCA_btl", "self,vader,tcp");
  if (!ranks.network.empty()) variables.emplace_back("OMPI_MCA_btl_tcp_if_include", ranks.network);
  return variables;
}

/// Of mpirun and its daemons.
std::vector<Variable> daemon_parameters(const ClusterCommand& ranks) {
  std::vector<Variable> variables = {
      // We count the slots, and the ranks bind themselves.
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      {"OMPI_MCA_rmaps_base_mapping_policy", "slot"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      // A daemon whose network is gone ends half a minute later, not some hours.
      {"OMPI_MCA_oob_tcp_keepalive_time", "10"},
      {"OMPI_MCA_oob_tcp_keepalive_intvl", "5"},
      {"OMPI_MCA_oob_tcp_keepalive_probes", "3"},
  };
  if (!ranks.network.empty()) variables.emplace_back("OMPI_MCA_oob_tcp_if_include", ranks.network);
  if (ranks.user == User::root) {
    variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return variables;
}

/// Without the parameters that the user has set: whoever does, knows the site.
std::vector<Variable> unless_set(std::vector<Variable> variables, const cluster::Variables& ours) {
  std::erase_if(variables, [&](const Variable& variable) {
    return variable.first.starts_with("OMPI_MCA_") && ours.contains(variable.first);
  });
  return variables;
}

const std::vector<Variable> rank_variables = {{"OMP_NUM_THREADS", "1"},
                                              {std::string(reports_variable), "1"}};

/// "node1:4,node2:4"
std::string host_list(const Placement& placement) {
  std::vector<std::string> hosts;
  for (const auto& share : placement.shares())
    hosts.push_back(fmt::format("{}:{}", share.host, share.ranks));
  return join(hosts, ",");
}

bool is_even(const Placement& placement) {
  const auto& shares = placement.shares();
  return std::ranges::all_of(
      shares, [&](const auto& share) { return share.ranks == shares.front().ranks; });
}

/// Even shares as SLURM counts them; others by a name for each rank.
std::vector<std::string> srun_placement(const Placement& placement) {
  std::vector<std::string> names;
  const auto& shares = placement.shares();
  if (is_even(placement)) {
    for (const auto& share : shares) names.push_back(share.host);
    return {fmt::format("--ntasks-per-node={}", shares.front().ranks), "--distribution=block",
            "--nodelist=" + join(names, ",")};
  }
  for (const auto& share : shares)
    for (Index i = 0; i < share.ranks; ++i) names.push_back(share.host);
  return {"--distribution=arbitrary", "--nodelist=" + join(names, ",")};
}

}  // namespace

Command mpirun_over_hosts(const ClusterCommand& ranks) {
  Command command;
  command.environment = daemon_parameters(ranks);
  for (auto& variable : message_parameters(ranks)) command.environment.push_back(variable);
  command.environment = unless_set(std::move(command.environment), ranks.ours);
  command.arguments = {"mpirun", "--tag-output",
                       "-n",     std::to_string(ranks.placement.world()),
                       "--host", host_list(ranks.placement)};
  for (const auto& [name, value] : rank_variables)
    append(command.arguments, {"-x", fmt::format("{}={}", name, value)});
  append(command.arguments, {ranks.executable});
  append(command.arguments, ranks.arguments);
  return command;
}

Command srun_command(const ClusterCommand& ranks) {
  Command command{.arguments = {}, .environment = {}, .signals = SignalReach::process};
  command.environment = unless_set(message_parameters(ranks), ranks.ours);
  for (const auto& variable : rank_variables) command.environment.push_back(variable);
  command.arguments = {"srun",
                       "--mpi=" + ranks.mpi_type,
                       "--label",
                       "--kill-on-bad-exit=1",
                       fmt::format("--ntasks={}", ranks.placement.world()),
                       fmt::format("--nodes={}", ranks.placement.shares().size())};
  append(command.arguments, srun_placement(ranks.placement));
  append(command.arguments, {"--cpu-bind=none", "--export=ALL"});
  // From a shell that is a step itself: the two share its cores.
  if (ranks.ours.contains("SLURM_STEP_ID")) append(command.arguments, {"--overlap"});
  append(command.arguments, {ranks.executable});
  append(command.arguments, ranks.arguments);
  return command;
}

Result<std::string> best_mpi_type(std::string_view listed) {
  constexpr std::string_view type = "pmix";
  for (std::size_t at = listed.find(type); at != listed.npos; at = listed.find(type, at + 1))
    if (at == 0 || std::string_view(" \t\n,").find(listed[at - 1]) != std::string_view::npos)
      return std::string(type);
  return failure(
      "srun has no pmix (through it MPI ranks learn which they are and find each other). use "
      "--launcher mpirun");
}

}  // namespace cpplan::launch
