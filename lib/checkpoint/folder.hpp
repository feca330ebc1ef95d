#pragma once
// The folder of a run's checkpoints: step-20, step-40, ... are complete or not there. What is being
// written, was damaged or is being deleted has a longer name.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest.hpp"

namespace cpplan::checkpoint {

/// step-40: its final name.
std::filesystem::path step_folder(const std::filesystem::path& folder, Index step);
/// step-40.tmp-RUN: while it is written.
std::filesystem::path temporary_folder(const std::filesystem::path& folder, Index step,
                                       std::string_view run);

/// Steps of the folders with a final name, newest first; none where the folder is not there.
std::vector<Index> steps_in(const std::filesystem::path& folder);

/// The manifest of a step folder whose files are all there in their full size. Error, naming the
/// folder: what keeps it from being complete. Damage inside the files is verify()'s to find.
Result<Manifest> read_manifest(const std::filesystem::path& step_folder);

/// A checkpoint that a run can go on from, and those that it cannot.
struct Candidate {
  std::filesystem::path path;
  Result<Manifest> manifest;
};
/// All step folders, newest first.
std::vector<Candidate> candidates_in(const std::filesystem::path& folder);

/// Of a folder of checkpoints all of them; of a checkpoint itself that one.
std::vector<Candidate> candidates_at(const std::filesystem::path& path);

/// Which complete checkpoints stay: the newest ones, and those of every so many steps. None: all.
struct Retention {
  std::optional<Index> newest, every;
};

/// Deletes the others.
void remove_old(const std::filesystem::path& folder, const Retention&);

/// Deletes what runs that were killed left half written or half deleted. The caller holds the lock.
void remove_remains(const std::filesystem::path& folder);

}  // namespace cpplan::checkpoint
