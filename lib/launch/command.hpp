#pragma once
// The command line that starts the ranks of a run. Pure: what --dry-run prints is what is run.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/ranks.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

using Variable = std::pair<std::string, std::string>;

struct Command {
  std::vector<std::string> arguments;  // [0]: the program, looked up in PATH
  std::vector<Variable> environment;   // added to ours
};

enum class User { root, other };

struct RankCommand {
  int world = 1;
  std::string executable;              // absolute: ranks do not search PATH
  std::vector<std::string> arguments;  // of cpplan: "run", "train.yaml", ...
  record::RunFolder folder;
  User user = User::other;
};

/// Open MPI's mpirun on this machine, one thread a rank. Ranks find CPPLAN_RUN_FOLDER in their
/// environment, and so know that we started them.
Command mpirun_command(const RankCommand&);

/// One word of a line for a shell, quoted where it must be.
std::string shell_word(std::string_view word);

/// As a line for a shell, quoted where it must be: "A=1 B='x y' mpirun -n 8 ...".
std::string shell_line(const Command&);

/// One line a rank: "rank 5  tp 1  cp 0  pp 1  dp 0".
std::vector<std::string> rank_map(const layout::Ranks&);

}  // namespace cpplan::launch
