#pragma once
// How a checkpoint comes to be, in three parts: one rank prepares the files, every rank writes its
// slices, and when all have, the first one seals it. What is not sealed does not count.
#include <filesystem>
#include <span>
#include <stop_token>
#include <vector>

#include "checkpoint/file_set.hpp"
#include "checkpoint/manifest.hpp"

namespace cpplan::checkpoint {

/// A file beside the tensors: config.json, model.safetensors.index.json.
struct SideFile {
  std::string name, content;
};

/// Makes the folder and every file in its full size, headers written. Error: the folder is there
/// already, or the disk is full.
Result<void> prepare_files(const std::filesystem::path& temporary, const FileSet&,
                           std::span<const SideFile>);

/// A slice in memory, its elements in the order of the slice and in the type of the file. Padding
/// may follow.
struct Piece {
  std::string tensor;  // its name in the file
  Slice slice;
  std::span<const std::byte> bytes;
};

/// Writes the slices of rank `rank` to disk and accounts for them there. Error also where it was
/// asked to stop.
Result<void> write_pieces(const std::filesystem::path& temporary, const FileSet&, int rank,
                          std::span<const Piece>, const std::stop_token& stop = {});

/// Adds files and the accounts of `world` ranks to the manifest, writes it, and gives the folder
/// its final name; a damaged folder of that name is set aside. Contract: the slices are all of
/// every tensor.
Result<void> seal(const std::filesystem::path& temporary, const std::filesystem::path& final,
                  const FileSet&, std::span<const SideFile>, Manifest, int world);

}  // namespace cpplan::checkpoint
