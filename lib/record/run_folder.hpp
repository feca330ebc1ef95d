#pragma once
// The names of everything in the scratch folder of a run: the one place where they are spelled.
#include <filesystem>
#include <string>

namespace cpplan::record {

/// A folder in memory (below /dev/shm where there is one), made by the launcher before the ranks
/// start and removed by it after they have ended, however they did.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path status_file(int rank) const {
    return path / ("rank-" + std::to_string(rank) + ".status");
  }
  /// What rank 0 leaves for the launcher to judge.
  std::filesystem::path record_file() const { return path / "run.json"; }
  /// Where the transport keeps the memory that ranks share.
  std::filesystem::path shared_memory() const { return path / "segments"; }
  /// Session files of the process manager.
  std::filesystem::path session() const { return path / "session"; }
};

}  // namespace cpplan::record
