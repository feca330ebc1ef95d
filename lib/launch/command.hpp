#pragma once
// The command line that starts the ranks of a run. Pure: what --dry-run prints is what is run.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/run_folder.hpp"

namespace cpplan::launch {

using Variable = std::pair<std::string, std::string>;

/// srun watches itself through a process of its group, and ends its tasks when it is killed: that
/// one no signal of ours may reach.
enum class SignalReach { group, process };

struct Command {
  std::vector<std::string> arguments;  // [0]: the program, looked up in PATH
  std::vector<Variable> environment;   // added to ours
  SignalReach signals = SignalReach::group;
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

}  // namespace cpplan::launch
