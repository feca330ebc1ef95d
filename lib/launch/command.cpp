#include "launch/command.hpp"

#include <fmt/format.h>

#include "launch/started_as.hpp"

namespace cpplan::launch {
namespace {

/// The names are Open MPI 4's parameters (`ompi_info --all`).
std::vector<Variable> mpirun_environment(const RankCommand& ranks) {
  std::vector<Variable> variables = {
      // Slots are cores, and more ranks than cores are what a laptop is asked for.
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      // A rank that waits without yielding keeps the core from the one it waits for: 40 ms instead
      // of 10 us a message with 8 ranks on 2 cores.
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      // Named, since probing for others costs 0.2 s a start.
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl", "self,vader"},
      {"OMPI_MCA_oob_tcp_if_include", "lo"},
      // In our folder, so that nothing stays behind when ranks are killed.
      {"OMPI_MCA_btl_vader_backing_directory", ranks.folder.shared_memory().string()},
      {"OMPI_MCA_orte_tmpdir_base", ranks.folder.session().string()},
      {"OMP_NUM_THREADS", "1"},
      {std::string(run_folder_variable), ranks.folder.path.string()},
  };
  if (ranks.user == User::root) {
    variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return variables;
}

}  // namespace

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
    return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

Command mpirun_command(const RankCommand& ranks) {
  Command command;
  command.arguments = {"mpirun", "--tag-output", "-n", std::to_string(ranks.world),
                       ranks.executable};
  command.arguments.insert(command.arguments.end(), ranks.arguments.begin(), ranks.arguments.end());
  command.environment = mpirun_environment(ranks);
  return command;
}

std::string shell_line(const Command& command) {
  std::string line;
  for (const auto& [name, value] : command.environment)
    line += fmt::format("{}={} ", name, shell_word(value));
  for (const std::string& word : command.arguments) line += shell_word(word) + " ";
  line.pop_back();
  return line;
}

}  // namespace cpplan::launch
