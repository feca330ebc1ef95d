#pragma once
// The names of everything in the folder that a run leaves behind (--run-folder): the one place
// where they are spelled.
#include <filesystem>
#include <string>

namespace cpplan::record {

/// Made by the launcher. Logs grow while the ranks speak; each other file is complete or absent.
struct KeptFolder {
  std::filesystem::path path;

  /// What a rank wrote to its standard output and error, line by line.
  std::filesystem::path rank_log(int rank) const {
    return path / ("rank-" + std::to_string(rank) + ".log");
  }
  std::filesystem::path plan_file() const { return path / "plan.json"; }
  std::filesystem::path record_file() const { return path / "run.json"; }
  /// How it ended. While there is none the run goes on, or was killed with its launcher.
  std::filesystem::path outcome_file() const { return path / "outcome.json"; }
};

}  // namespace cpplan::record
