#include "checkpoint/tensor_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/contract.hpp"
#include "base/files.hpp"
#include "base/json.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr Index most_buffered_elements = Index{1} << 20;
constexpr std::string_view index_name = "model.safetensors.index.json";
constexpr std::string_view single_name = "model.safetensors";

/// tensor -> file, as the index has it.
Result<Json> weight_map_of(const fs::path& index) {
  const auto json = read_file(index).and_then(Json::parse);
  if (!json)
    return failure(fmt::format("{} cannot be used ({})", index.string(), json.error().message));
  const Json* map = json->is_object() ? json->find("weight_map") : nullptr;
  if (map == nullptr || !map->is_object())
    return failure(fmt::format("{} cannot be used (it has no weight_map)", index.string()));
  for (const auto& [tensor, file] : map->members())
    if (!file.is_string() || file.as_string().find('/') != std::string::npos)
      return failure(
          fmt::format("{} cannot be used (\"{}\" is in no file)", index.string(), tensor));
  return *map;
}

tl::unexpected<Error> no_model(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "pytorch_model.bin", ignored) ||
      fs::exists(folder / "pytorch_model.bin.index.json", ignored))
    return failure(fmt::format(
        "{} has pickled weights alone (they are programs, which are not run here). save it again "
        "with save_pretrained(..., safe_serialization=True)",
        folder.string()));
  return failure(fmt::format("{} has no weights (neither {} nor {}). name a folder that has",
                             folder.string(), single_name, index_name));
}

/// Vectors are matrices of one row.
bool has_shape(const StoredTensor& tensor, const layout::TensorShard& shard) {
  if (tensor.shape.size() == 1) return shard.rows == 1 && tensor.shape[0] == shard.cols;
  return tensor.shape == std::vector<Index>{shard.rows, shard.cols};
}

}  // namespace

Result<TensorFiles> TensorFiles::open(const fs::path& folder, std::span<const std::string> files) {
  TensorFiles result;
  result.folder_ = folder;
  for (const std::string& name : files) {
    auto tensors = read_safetensors_header(folder / name);
    if (!tensors) return tl::unexpected(tensors.error());
    auto file = File::open_to_read(folder / name);
    if (!file) return tl::unexpected(file.error());
    result.files_.push_back(std::move(*file));
    result.file_names_.push_back(name);
    for (StoredTensor& tensor : *tensors) {
      const std::string key = tensor.name;
      if (!result.places_.try_emplace(key, Place{result.files_.size() - 1, std::move(tensor)})
               .second)
        return failure(fmt::format("{} has \"{}\" twice", (folder / name).string(), key));
    }
  }
  return result;
}

Result<TensorFiles> TensorFiles::open_model(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / index_name, ignored)) {
    if (!fs::exists(folder / single_name, ignored)) return no_model(folder);
    const std::string file(single_name);
    return open(folder, std::span(&file, 1));
  }
  const auto map = weight_map_of(folder / index_name);
  if (!map) return tl::unexpected(map.error());
  std::set<std::string> files;
  for (const auto& member : map->members()) files.insert(member.second.as_string());
  auto result = open(folder, std::vector(files.begin(), files.end()));
  if (!result) return result;
  for (const auto& [tensor, file] : map->members())
    if (result->find(tensor) == nullptr)
      return failure(fmt::format("{} has no \"{}\" (the index says it has)",
                                 (folder / file.as_string()).string(), tensor));
  return result;
}

const StoredTensor* TensorFiles::find(std::string_view tensor) const {
  const auto found = places_.find(tensor);
  return found == places_.end() ? nullptr : &found->second.tensor;
}

std::vector<std::string> TensorFiles::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : places_) names.push_back(name);
  return names;
}

const std::string& TensorFiles::file_of(std::string_view tensor) const {
  const auto found = places_.find(tensor);
  expect(found != places_.end(), "there is a tensor of that name");
  return file_names_[found->second.file];
}

Result<const TensorFiles::Place*> TensorFiles::place(std::string_view tensor,
                                                     const layout::TensorShard& shard) const {
  const auto found = places_.find(tensor);
  if (found == places_.end())
    return failure(fmt::format("{} has no tensor \"{}\"", folder_.string(), tensor));
  if (!has_shape(found->second.tensor, shard))
    return failure(fmt::format("\"{}\" of {} has the shape {} (the model's is {} x {})", tensor,
                               folder_.string(), fmt::join(found->second.tensor.shape, " x "),
                               shard.rows, shard.cols));
  return &found->second;
}

Result<void> TensorFiles::check(std::string_view tensor, const layout::TensorShard& shard) const {
  return place(tensor, shard).map([](const Place*) {});
}

Result<void> TensorFiles::read(std::string_view tensor, const Slice& slice, ElementType type,
                               std::span<std::byte> into) const {
  const auto place = this->place(tensor, slice.shard);
  if (!place) return tl::unexpected(place.error());
  const auto& [file, stored] = **place;
  const Index stored_size = size_of(stored.type).count, size = size_of(type).count;
  expect(std::ssize(into) >= valid_elements(slice) * size, "the slice fits its buffer");
  std::vector<std::byte> buffer;
  for (const Run& run : runs_of(slice)) {
    for (Index done = 0; done < run.count;) {
      const Index count = std::min(run.count - done, most_buffered_elements);
      buffer.resize(static_cast<std::size_t>(count * stored_size));
      const Bytes at = stored.begin + Bytes{(run.in_tensor + done) * stored_size};
      if (auto read = files_[file].read(at, buffer); !read) return read;
      convert(stored.type, buffer.data(), type, into.data() + (run.in_slice + done) * size, count);
      done += count;
    }
  }
  return {};
}

Result<std::vector<std::byte>> TensorFiles::read_raw(std::string_view tensor,
                                                     const Slice& slice) const {
  const auto place = this->place(tensor, slice.shard);
  if (!place) return tl::unexpected(place.error());
  const ElementType type = (*place)->tensor.type;
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(valid_elements(slice) * size_of(type).count));
  if (auto done = read(tensor, slice, type, bytes); !done) return tl::unexpected(done.error());
  return bytes;
}

}  // namespace cpplan::checkpoint
