#pragma once
// A small checkpoint that two ranks wrote: a matrix cut by columns, a vector of the first one.
#include <doctest/doctest.h>

#include <cstring>

#include "base/files.hpp"
#include "checkpoint/folder.hpp"
#include "checkpoint/write.hpp"

namespace cpplan::checkpoint {

inline FileSet sample_files() {
  FileSet set;
  set.add("model", {{"matrix", ElementType::f32, {5, 6}}, {"vector", ElementType::f32, {6}}});
  return set;
}

inline const std::vector<SideFile>& sample_side_files() {
  static const std::vector<SideFile> files = {{"config.json", "{\"model_type\": \"llama\"}\n"}};
  return files;
}

/// Element i of a tensor is `first` + i.
inline float sample_value(float first, Index i) {
  return first + static_cast<float>(i);
}

inline std::vector<float> values_of(const Slice& slice, float first) {
  std::vector<float> values(static_cast<std::size_t>(slice.count), -1.0f);
  for (const Run& run : runs_of(slice))
    for (Index i = 0; i < run.count; ++i)
      values[static_cast<std::size_t>(run.in_slice + i)] = sample_value(first, run.in_tensor + i);
  return values;
}

inline Slice sample_columns(Index first, Index count) {
  layout::TensorShard shard{.name = "matrix", .rows = 5, .cols = 6};
  shard.row_count = 5, shard.first_col = first, shard.col_count = count;
  return Slice::all_of(shard);
}

inline Slice sample_vector() {
  layout::TensorShard shard{.name = "vector", .rows = 1, .cols = 6};
  shard.row_count = 1, shard.col_count = 6;
  return Slice::all_of(shard);
}

inline Result<void> write_rank(const std::filesystem::path& temporary, int rank, Index step) {
  const auto first = static_cast<float>(100 * step);
  const Slice columns = sample_columns(rank == 0 ? 0 : 4, rank == 0 ? 4 : 2);
  const auto matrix = values_of(columns, first), vector = values_of(sample_vector(), -first);
  std::vector<Piece> pieces = {{"matrix", columns, std::as_bytes(std::span(matrix))}};
  if (rank == 0) pieces.push_back({"vector", sample_vector(), std::as_bytes(std::span(vector))});
  return write_pieces(temporary, sample_files(), rank, pieces);
}

/// Matrix from 100 * step on, vector from -100 * step on.
inline std::filesystem::path write_sample(const std::filesystem::path& folder, Index step) {
  const auto temporary = temporary_folder(folder, step, "run");
  REQUIRE(prepare_files(temporary, sample_files(), sample_side_files()));
  for (const int rank : {0, 1}) REQUIRE(write_rank(temporary, rank, step));
  const Manifest manifest{.step = step, .run = "run", .version = "0", .plan_hash = 7};
  REQUIRE(
      seal(temporary, step_folder(folder, step), sample_files(), sample_side_files(), manifest, 2));
  return step_folder(folder, step);
}

}  // namespace cpplan::checkpoint
