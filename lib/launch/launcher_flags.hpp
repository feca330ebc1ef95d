#pragma once
// The flags of the four launchers: which take values, and which say something about the ranks.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cpplan::launch {

enum class Launcher { mpirun, srun, torchrun, accelerate };
std::string_view name_of(Launcher);

enum class Meaning {
  other,
  ranks,  // in all
  nodes,
  ranks_per_node,
  one_rank_per_node,
  hosts,
  host_file,
  placement,  // --map-by
  more_ranks_than_slots,
  root_allowed,
  mpi_plugin,
  gpus_per_node,
  node_rank,
  rendezvous,
  standalone,
  config_file,
};

struct LauncherFlag {
  std::string_view name;  // without dashes, - for _
  int values = 0;         // words that follow it
  Meaning meaning = Meaning::other;
};

/// nullptr where the launcher has no such flag. Short names keep their case.
const LauncherFlag* find_flag(Launcher, std::string_view name);

/// The long names of its flags.
std::vector<std::string_view> flag_names(Launcher);

/// Another launcher's flag, on a command line of one that does not know it.
struct BorrowedFlag {
  Launcher owner;
  const LauncherFlag* here;  // what says the same here; nullptr: nothing does
};
/// None where `name` is a flag of `launcher`, or no other's that says something about the ranks.
std::optional<BorrowedFlag> borrowed_flag(Launcher launcher, std::string_view name);

}  // namespace cpplan::launch
