#pragma once
// A launch command as people write it, understood: which launcher, how many ranks it starts where.
// Pure: nothing is looked up on this machine.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "launch/launcher_flags.hpp"
#include "launch/shell_words.hpp"

namespace cpplan::launch {

/// One name of a --host list; a bare name is one slot, `name:*` as many as there are.
struct HostSlots {
  std::string name;
  std::optional<Index> slots;
};

struct LaunchLine {
  Launcher launcher = Launcher::mpirun;
  Word launcher_word;
  Words before;                      // NAME=value and wrappers
  std::map<Meaning, Word> settings;  // the value of the last flag of each meaning
  std::map<Meaning, Word> flags;     // the flag itself
  Words unknown_flags;
  Words program;                       // what it starts, with its arguments
  std::shared_ptr<LaunchLine> inside;  // torchrun or accelerate below srun or mpirun

  bool has(Meaning m) const { return flags.contains(m); }
  /// The value, else the flag, else the launcher: where a finding about it points.
  const diag::Span& place(Meaning m) const;
  /// A whole number from 1 on; none where it is not given, or not as a number.
  std::optional<Index> count(Meaning m) const;
};

/// --launch-command "...": its text, for findings to point into, and what it says.
struct LaunchCommand {
  diag::SourceFile source;         // named --launch-command
  std::optional<LaunchLine> line;  // none where the text is no launch command
  diag::Diagnostics findings;      // CP520, CP521
};
LaunchCommand parse_launch_command(std::string text);

/// "h1:8,h2" of a --host list.
std::vector<HostSlots> host_slots(const LaunchLine&);

/// Ranks that the line starts in all; `gpus_per_node` is what nproc-per-node=gpu stands for. None
/// where the line does not say (a hostfile, a variable of the shell, a file of accelerate).
std::optional<Index> ranks_started(const LaunchLine&, std::optional<Index> gpus_per_node);

}  // namespace cpplan::launch
