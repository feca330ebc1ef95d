#include "cluster/environment.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/checked.hpp"
#include "cluster/contradictions.hpp"
#include "cluster/variable_reader.hpp"

namespace cpplan::cluster {
namespace {

/// A step's own list, or the job's: whichever has as many names as SLURM counts nodes, since an
/// interactive step on one node still speaks for its whole job.
std::vector<std::string> read_hosts(VariableReader& reader, const std::optional<Read>& nodes) {
  std::vector<std::string> first;
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    auto hosts = reader.hosts(name);
    if (hosts.empty()) continue;
    if (!nodes || std::ssize(hosts) == nodes->value) return hosts;
    if (first.empty()) first = std::move(hosts);
  }
  return first;
}

void read_slurm_nodes(VariableReader& reader, Environment& environment) {
  const auto nodes = reader.first_count({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  environment.tasks_per_node = reader.tasks_per_node("SLURM_TASKS_PER_NODE");
  environment.hosts = read_hosts(reader, nodes);
  const auto listed = std::max(environment.tasks_per_node.size(), environment.hosts.size());
  if (nodes || listed > 0) environment.nodes = nodes ? nodes->value : static_cast<Index>(listed);
  const auto gpus = reader.first_count({"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"});
  if (gpus) environment.gpus_per_node = gpus->value;
}

std::optional<RankCount> slurm_ranks(VariableReader& reader, const Environment& environment,
                                     const std::optional<Read>& tasks) {
  if (tasks) return RankCount{tasks->value, tasks->variable};
  if (!environment.tasks_per_node.empty())
    return RankCount{total_tasks(environment.tasks_per_node), "SLURM_TASKS_PER_NODE"};
  const auto per_node = reader.count("SLURM_NTASKS_PER_NODE");
  if (!per_node || !environment.nodes) return std::nullopt;
  const auto product = checked_multiply(*environment.nodes, *per_node);
  if (!product) return std::nullopt;
  return RankCount{*product, "SLURM_NNODES x SLURM_NTASKS_PER_NODE"};
}

std::optional<LocalRank> read_local_rank(VariableReader& reader) {
  // SLURM_LOCALID is 0 in a batch script, too, which is no rank.
  auto rank = reader.first_rank({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"});
  if (!rank && reader.has("SLURM_STEP_ID")) rank = reader.first_rank({"SLURM_LOCALID"});
  return rank ? std::optional(LocalRank{rank->value, rank->variable}) : std::nullopt;
}

void read_slurm_ranks(VariableReader& reader, Environment& environment) {
  const auto tasks = reader.first_count({"SLURM_NTASKS", "SLURM_NPROCS"});
  environment.ranks = slurm_ranks(reader, environment, tasks);
  check_slurm(reader, environment, tasks);
  check_process_manager(reader, environment);
}

}  // namespace

Variables process_variables() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

bool Environment::one_task_per_node() const {
  if (tasks_per_node.size() > 1)
    return std::ranges::all_of(tasks_per_node, [](Index n) { return n == 1; });
  return nodes && *nodes > 1 && ranks && ranks->source.starts_with("SLURM") &&
         ranks->size == *nodes;
}

Environment read_environment(const Variables& variables) {
  Environment environment;
  VariableReader reader(variables, environment.findings);
  read_slurm_nodes(reader, environment);
  environment.local_rank = read_local_rank(reader);
  if (const auto world = reader.first_count({"WORLD_SIZE"})) {
    environment.ranks = RankCount{world->value, world->variable};
  } else if (const auto mpi = reader.first_count({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})) {
    environment.ranks = RankCount{mpi->value, mpi->variable};
    check_world_size_exported(reader, environment);
  } else {
    read_slurm_ranks(reader, environment);
  }
  check_world(reader, environment);
  return environment;
}

}  // namespace cpplan::cluster
