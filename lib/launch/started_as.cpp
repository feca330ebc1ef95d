#include "launch/started_as.hpp"

#include <fmt/format.h>

#include <charconv>

namespace cpplan::launch {
namespace {

std::optional<int> number(const cluster::Variables& variables, std::string_view name) {
  const auto it = variables.find(name);
  if (it == variables.end()) return {};
  int value = -1;
  const std::string& text = it->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// mpirun tells its ranks. srun's are told by PMIx when MPI starts; until then SLURM's step says
/// how many there are. A step of one task that we have not started is a shell (srun --pty bash) as
/// likely as a rank, and is none.
struct Place {
  std::optional<int> rank, world;
};

Place place_of(const cluster::Variables& variables) {
  const Place below_mpirun{number(variables, "OMPI_COMM_WORLD_RANK"),
                           number(variables, "OMPI_COMM_WORLD_SIZE")};
  if (below_mpirun.rank || below_mpirun.world) return below_mpirun;
  const Place below_srun{number(variables, "PMIX_RANK"), number(variables, "SLURM_STEP_NUM_TASKS")};
  const bool ours = variables.contains(reports_variable);
  if (below_srun.rank && (ours || below_srun.world.value_or(1) > 1)) return below_srun;
  return {};
}

/// Such a process is a rank, whatever else it knows: as a launcher it would start others without
/// end.
bool is_started_by_us(const cluster::Variables& variables) {
  return variables.contains(run_folder_variable) || variables.contains(reports_variable);
}

}  // namespace

Result<std::optional<RankIdentity>> started_as(const cluster::Variables& variables) {
  const auto [rank, world] = place_of(variables);
  if (!world && !rank && is_started_by_us(variables))
    return failure(fmt::format(
        "a launcher of ours has started this process and nobody says which rank it is ({} or {} is "
        "set, and of OMPI_COMM_WORLD_RANK and PMIX_RANK neither). Unset them, or use --launcher "
        "mpirun",
        run_folder_variable, reports_variable));
  if (!world && !rank) return std::nullopt;
  if (!world || !rank || *world < 1 || *rank < 0 || *rank >= *world)
    return failure(fmt::format(
        "rank {} of {} does not exist (the variables of mpirun, OMPI_COMM_WORLD_RANK and "
        "OMPI_COMM_WORLD_SIZE, or of srun, PMIX_RANK and SLURM_STEP_NUM_TASKS, say so). "
        "Unset them, or start the ranks with mpirun or srun",
        rank ? std::to_string(*rank) : "unknown", world ? std::to_string(*world) : "unknown"));
  RankIdentity identity{.rank = *rank, .world = *world};
  if (variables.contains(reports_variable)) identity.watched = record::WatchedThrough::output;
  if (const auto folder = variables.find(run_folder_variable); folder != variables.end()) {
    identity.watched = record::WatchedThrough::folder;
    identity.folder = record::RunFolder{folder->second};
  }
  return identity;
}

}  // namespace cpplan::launch
