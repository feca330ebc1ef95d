#include "checkpoint/verify.hpp"

#include <fmt/format.h>

#include <optional>

#include "checkpoint/checksum.hpp"
#include "checkpoint/tensor_files.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

bool is_mine(std::size_t item, const Share& share) {
  return item % static_cast<std::size_t>(share.count) == static_cast<std::size_t>(share.number);
}

Result<std::uint64_t> checksum_of_start(const fs::path& path, Bytes length) {
  const auto file = File::open_to_read(path);
  if (!file) return tl::unexpected(file.error());
  std::string text(static_cast<std::size_t>(length.count), '\0');
  if (auto read = file->read({0}, std::as_writable_bytes(std::span(text))); !read)
    return tl::unexpected(read.error());
  return checksum_of(text);
}

/// "model-00001-of-00001.safetensors: bytes 100-163, which are of "x" rows 0-3 and columns 0-3"
std::string place_of(const TensorFiles& files, const SliceEntry& entry) {
  const auto& shard = entry.slice.shard;
  const StoredTensor& stored = *files.find(entry.tensor);
  const auto runs = runs_of(entry.slice);
  const Index size = size_of(stored.type).count;
  const Index begin = runs.empty() ? 0 : runs.front().in_tensor * size;
  const Index end = runs.empty() ? 0 : (runs.back().in_tensor + runs.back().count) * size;
  return fmt::format("{}: bytes {}-{}, which have \"{}\", rows {}-{} and columns {}-{},",
                     files.file_of(entry.tensor), stored.begin.count + begin,
                     stored.begin.count + end - 1, entry.tensor, shard.first_row,
                     shard.first_row + shard.valid_rows() - 1, shard.first_col,
                     shard.first_col + shard.col_count - 1);
}

std::optional<std::string> damage_of(const TensorFiles& files, const SliceEntry& entry) {
  const auto bytes = files.read_raw(entry.tensor, entry.slice);
  if (!bytes) return bytes.error().message;
  Checksum checksum;
  checksum.add(*bytes);
  if (checksum.value() == entry.checksum) return {};
  return place_of(files, entry) + " do not match their checksum";
}

}  // namespace

std::vector<std::string> damage_in(const fs::path& step_folder, const Manifest& manifest,
                                   Share share) {
  std::vector<std::string> damage;
  std::vector<std::string> tensor_files;
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {
    const FileEntry& file = manifest.files[i];
    if (file.name.ends_with(".safetensors")) tensor_files.push_back(file.name);
    if (!is_mine(i, share)) continue;
    const auto checksum = checksum_of_start(step_folder / file.name, file.sealed);
    if (!checksum)
      damage.push_back(checksum.error().message);
    else if (*checksum != file.checksum)
      damage.push_back(fmt::format("the first {} bytes of {} do not match their checksum",
                                   file.sealed.count, file.name));
  }
  const auto files = TensorFiles::open(step_folder, tensor_files);
  if (!files && damage.empty()) damage.push_back(files.error().message);
  if (!files) return damage;
  for (std::size_t i = 0; i < manifest.slices.size(); ++i)
    if (is_mine(i, share))
      if (auto found = damage_of(*files, manifest.slices[i])) damage.push_back(std::move(*found));
  return damage;
}

}  // namespace cpplan::checkpoint
