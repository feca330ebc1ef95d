#pragma once
// Slices of a rank on their way into the files of a checkpoint: their bytes may come in parts.
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint/checksum.hpp"
#include "checkpoint/file.hpp"
#include "checkpoint/file_set.hpp"
#include "checkpoint/manifest.hpp"

namespace cpplan::checkpoint {

class SliceWriter {
 public:
  /// Opens each file once, when it is first written to. Both outlive the writer.
  SliceWriter(const std::filesystem::path& temporary, const FileSet&);

  /// The next slice of the tensor of that name in the files.
  Result<void> begin(const std::string& tensor, const Slice&);
  /// Its next elements, in the order of the slice and without padding. Contract: not more than it
  /// has.
  Result<void> write(std::span<const std::byte>);
  /// All slices are on disk, and accounted for there as those of rank `rank`.
  Result<void> finish(int rank);

 private:
  /// Where the next byte of the slice goes: into which run of it, and how far into that.
  struct Cursor {
    std::vector<Run> runs;
    std::size_t run = 0;
    Index done = 0;  // bytes of it
  };
  Result<File*> file(std::size_t number);
  void close_slice();

  const std::filesystem::path& folder_;
  const FileSet& set_;
  std::vector<std::optional<File>> files_;
  std::vector<SliceEntry> entries_;
  const FileSet::Place* place_ = nullptr;  // of the slice that is being written
  Cursor cursor_;
  std::optional<Checksum> checksum_;
};

/// Where the slices of a rank are accounted for until the manifest is written.
std::filesystem::path account_file(const std::filesystem::path& temporary, int rank);

}  // namespace cpplan::checkpoint
