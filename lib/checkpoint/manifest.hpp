#pragma once
// manifest.json: what makes a folder a complete checkpoint. Written last, and sealed by a checksum
// of itself.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "checkpoint/slice.hpp"
#include "layout/parallel_dims.hpp"

namespace cpplan::checkpoint {

inline constexpr std::string_view manifest_name = "manifest.json";

/// Where training stands in its data. Samples are numbered on over the epochs in the order that the
/// seed gives; the run goes on with sample number `samples`.
struct DataPosition {
  Index samples = 0, samples_per_step = 0, samples_per_epoch = 0;
  Index sequence_len = 0;
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;  // of all rows
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// A file and how it begins: of a safetensors file its header, of any other all of it.
struct FileEntry {
  std::string name;
  Bytes size;
  Bytes sealed;  // bytes from the start that the checksum is of
  std::uint64_t checksum = 0;
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

/// A slice as one rank wrote it, and the checksum of its bytes in the order of its runs.
struct SliceEntry {
  std::string tensor;  // its name in the file
  Slice slice;
  std::uint64_t checksum = 0;
};

struct Manifest {
  static constexpr std::string_view schema = "cpplan/checkpoint/1";

  Index step = 0;  // the last that is in the weights
  std::string run;
  std::string version;          // of the program that wrote it
  std::uint64_t plan_hash = 0;  // of the run that wrote it, layout included
  layout::ParallelDims dims;    // likewise
  DataPosition data;
  std::vector<FileEntry> files;
  std::vector<SliceEntry> slices;
};

/// Text of the file.
std::string to_text(const Manifest&);
/// Error: no manifest, one of another schema, or one that has changed since it was written.
Result<Manifest> manifest_of(const std::string& text);

/// What a rank tells of its slices to the one that writes the manifest.
std::string account_of(const std::vector<SliceEntry>&);
Result<std::vector<SliceEntry>> slices_of_account(const std::string& text);

}  // namespace cpplan::checkpoint
