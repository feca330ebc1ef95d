#include "cluster/contradictions.hpp"

#include <fmt/format.h>

#include "base/checked.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::cluster {
namespace {

void check_task_total(Environment& environment, const Read& tasks) {
  const Index listed = total_tasks(environment.tasks_per_node);
  if (environment.tasks_per_node.empty() || listed == tasks.value) return;
  environment.findings.push_back(diag::finding(
      "CP502", {},
      fmt::format("{}={} but SLURM_TASKS_PER_NODE gives {} tasks over {} nodes", tasks.variable,
                  tasks.value, listed, environment.tasks_per_node.size()),
      {.why = "the two are set from one allocation, so one of them was changed by hand",
       .help = {fmt::format("use --ntasks={} or --world-size {}", listed, tasks.value)}}));
}

void check_node_count(Environment& environment, std::string_view list, std::size_t listed) {
  if (listed == 0 || !environment.nodes || *environment.nodes == static_cast<Index>(listed)) return;
  environment.findings.push_back(diag::finding(
      "CP502", {},
      fmt::format("SLURM counts {} nodes but {} lists {}", *environment.nodes, list, listed),
      {.why = "the two are set from one allocation, so one of them was changed by hand",
       .help = {fmt::format("use --nodes {}, or correct {}", listed, list)}}));
}

void check_per_node(VariableReader& reader, Environment& environment, const Read& tasks) {
  const auto per_node = reader.count("SLURM_NTASKS_PER_NODE");
  if (!per_node || !environment.nodes) return;
  const auto most = checked_multiply(*per_node, *environment.nodes);
  if (!most || tasks.value <= *most) return;
  environment.findings.push_back(
      diag::finding("CP502", {},
                    fmt::format("{}={} but {} nodes of SLURM_NTASKS_PER_NODE={} hold {}",
                                tasks.variable, tasks.value, *environment.nodes, *per_node, *most),
                    {.why = "SLURM places no more tasks on a node than that",
                     .help = {fmt::format("use --ntasks={}, or --ntasks-per-node={}", *most,
                                          ceil_div(tasks.value, *environment.nodes))}}));
}

diag::Diagnostic contradiction(std::string message, std::string why, std::string help) {
  return diag::finding("CP506", {}, std::move(message),
                       {.why = std::move(why), .help = {std::move(help)}});
}

/// torchrun below a launcher that started one task a node: its WORLD_SIZE counts more than tasks.
bool below_a_launcher(Index world, Index tasks, const std::optional<Read>& local_size) {
  return local_size && checked_multiply(tasks, local_size->value) == world;
}

void check_against_launcher(VariableReader& reader, Environment& environment, Index world) {
  const auto launcher = reader.first_count({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  const auto local_size = reader.first_count({"LOCAL_WORLD_SIZE"});
  if (!launcher || launcher->value == world) return;
  if (below_a_launcher(world, launcher->value, local_size)) return;
  environment.findings.push_back(contradiction(
      fmt::format("WORLD_SIZE={} but {}={}", world, launcher->variable, launcher->value),
      "frameworks read WORLD_SIZE and MPI has as many ranks as the launcher started",
      fmt::format("export WORLD_SIZE={}", launcher->value)));
}

void check_rank_below(Environment& environment, const std::optional<Read>& rank, Index size,
                      std::string_view of) {
  if (!rank || rank->value < size) return;
  environment.findings.push_back(
      contradiction(fmt::format("{}={} is no rank of {} {}", rank->variable, rank->value, of, size),
                    "ranks count from 0", fmt::format("use a rank from 0 to {}", size - 1)));
}

}  // namespace

void check_slurm(VariableReader& reader, Environment& environment,
                 const std::optional<Read>& tasks) {
  if (tasks) {
    check_task_total(environment, *tasks);
    check_per_node(reader, environment, *tasks);
  }
  check_node_count(environment, "SLURM_TASKS_PER_NODE", environment.tasks_per_node.size());
  check_node_count(environment, "SLURM_JOB_NODELIST", environment.hosts.size());
}

/// axolotl and Megatron read WORLD_SIZE alone. Under mpirun itself a wrapper may still set it from
/// the rank's own variables, so there it is a note.
void check_world_size_exported(VariableReader& reader, Environment& environment) {
  const auto& ranks = environment.ranks;
  auto found =
      diag::finding("CP503", {},
                    fmt::format("{}={} gives the world size, but WORLD_SIZE is not set",
                                ranks->source, ranks->size),
                    {.why = "axolotl and Megatron read WORLD_SIZE alone and would plan for 1 rank",
                     .help = {fmt::format("export WORLD_SIZE={}", ranks->size)}});
  if (reader.has("OMPI_COMM_WORLD_RANK") || reader.has("PMI_RANK"))
    found.severity = diag::Severity::note;
  environment.findings.push_back(std::move(found));
}

void check_world(VariableReader& reader, Environment& environment) {
  const auto world = reader.first_count({"WORLD_SIZE"});
  if (world) {
    check_against_launcher(reader, environment, world->value);
    check_rank_below(environment, reader.first_rank({"RANK"}), world->value, "WORLD_SIZE");
  }
  if (const auto size = reader.first_count({"OMPI_COMM_WORLD_SIZE"}))
    check_rank_below(environment, reader.first_rank({"OMPI_COMM_WORLD_RANK"}), size->value,
                     "OMPI_COMM_WORLD_SIZE");
  if (const auto size = reader.first_count({"LOCAL_WORLD_SIZE"}))
    check_rank_below(environment, reader.first_rank({"LOCAL_RANK"}), size->value,
                     "LOCAL_WORLD_SIZE");
}

void check_process_manager(VariableReader& reader, Environment& environment) {
  const auto tasks = reader.count("SLURM_STEP_NUM_TASKS");
  const bool inside_step = tasks && *tasks > 1 && reader.has("SLURM_PROCID");
  if (!inside_step || environment.one_task_per_node()) return;
  if (reader.has("PMIX_RANK") || reader.has("PMI_RANK")) return;
  environment.findings.push_back(diag::finding(
      "CP510", {},
      fmt::format("a SLURM step of {} tasks has neither PMIX_RANK nor PMI_RANK", *tasks),
      {.why = "MPI would start as many separate worlds of one rank each",
       .help = {fmt::format("use srun --mpi=pmix -n {0}, or mpirun -np {0}", *tasks)}}));
}

}  // namespace cpplan::cluster
