#pragma once
// --run-folder: what a run leaves for those who look at it the next morning.
#include <fstream>
#include <map>
#include <optional>

#include "app/options.hpp"
#include "checkpoint/lock.hpp"
#include "launch/supervisor.hpp"
#include "plan/plan.hpp"
#include "record/kept_folder.hpp"

namespace cpplan::app {

/// The folder of one run at a time; without --run-folder nothing of this does anything.
class RunArchive {
 public:
  /// Writes the plan. Error: another run holds the folder (with its owner), an earlier one left its
  /// files there and nothing says to go on with it, or it cannot be written.
  static Result<RunArchive> open(const RunOptions& options, plan::Plan plan);

  /// Goes to the log of the rank.
  void add_line(int rank, const std::string& line);
  /// Says so on standard error where it cannot be written, and changes no exit code.
  void add_outcome(const launch::Outcome& outcome, std::string_view message, int exit_code) const;

 private:
  struct Folder {
    record::KeptFolder names;
    checkpoint::FolderLock lock;
    std::map<int, std::ofstream> logs;
  };
  std::optional<Folder> folder_;
};

}  // namespace cpplan::app
