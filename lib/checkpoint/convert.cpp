#include "checkpoint/convert.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "checkpoint/folder.hpp"
#include "checkpoint/model_folder.hpp"
#include "checkpoint/tensor_files.hpp"
#include "checkpoint/write.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view stem = "model", master_suffix = ".master";

/// All of a tensor, as one slice of it.
Slice whole(const StoredTensor& tensor) {
  const bool vector = tensor.shape.size() < 2;
  layout::TensorShard shard{.name = tensor.name};
  shard.rows = shard.row_count = vector ? 1 : tensor.shape[0];
  shard.cols = shard.col_count = vector ? tensor.elements() : tensor.elements() / shard.rows;
  return Slice::all_of(shard);
}

class Conversion {
 public:
  Conversion(TensorFiles weights, std::optional<TensorFiles> exact, std::optional<ElementType> type)
      : weights_(std::move(weights)), exact_(std::move(exact)) {
    std::vector<StoredTensor> tensors;
    for (const std::string& name : weights_.names()) {
      tensors.push_back(*weights_.find(name));
      if (type) tensors.back().type = *type;
    }
    files_.add(stem, tensors);
  }

  const FileSet& files() const { return files_; }
  ElementType type() const { return files_.files().front().tensors.front().type; }

  Result<void> write(const fs::path& folder) const {
    for (const PlannedFile& planned : files_.files()) {
      auto file = File::open_to_write(folder / planned.name);
      if (!file) return tl::unexpected(file.error());
      for (const StoredTensor& tensor : planned.tensors)
        if (auto written = write(tensor, *file); !written) return written;
      if (auto synced = file->sync(); !synced) return synced;
    }
    return {};
  }

 private:
  Result<void> write(const StoredTensor& tensor, File& file) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes().count));
    const std::string master = tensor.name + std::string(master_suffix);
    const bool exact = tensor.type != weights_.find(tensor.name)->type && exact_ &&
                       exact_->find(master) != nullptr;
    const auto read = exact ? exact_->read(master, whole(tensor), tensor.type, bytes)
                            : weights_.read(tensor.name, whole(tensor), tensor.type, bytes);
    if (!read) return read;
    return file.write(tensor.begin, bytes);
  }

  TensorFiles weights_;
  std::optional<TensorFiles> exact_;
  FileSet files_;
};

/// Weights in the accumulator type, where the source is a checkpoint that has them apart.
Result<std::optional<TensorFiles>> exact_copies(const fs::path& source) {
  std::error_code ignored;
  if (!fs::exists(source / manifest_name, ignored)) return std::nullopt;
  const auto manifest = read_manifest(source);
  if (!manifest) return tl::unexpected(manifest.error());
  std::vector<std::string> names;
  for (const FileEntry& file : manifest->files)
    if (file.name.starts_with("optimizer-")) names.push_back(file.name);
  auto files = TensorFiles::open(source, names);
  if (!files) return tl::unexpected(files.error());
  return std::optional(std::move(*files));
}

Result<std::string> config_of(const fs::path& source, ElementType type) {
  auto config = read_file(source / config_name).and_then(Json::parse);
  if (!config) return tl::unexpected(config.error());
  const bool v5 = config->find("dtype") != nullptr;  // the name of it from transformers 5 on
  (*config)[v5 ? "dtype" : "torch_dtype"] = torch_name_of(type);
  return config->dump() + "\n";
}

}  // namespace

Result<void> convert_model(const fs::path& source, const fs::path& target,
                           std::optional<ElementType> type) {
  std::error_code error;
  if (fs::exists(target, error))
    return failure(fmt::format("{} is there already (nothing is written over). name a new folder",
                               target.string()));
  auto weights = TensorFiles::open_model(source);
  if (!weights) return tl::unexpected(weights.error());
  auto exact = exact_copies(source);
  if (!exact) return tl::unexpected(exact.error());
  const Conversion conversion(std::move(*weights), std::move(*exact), type);
  const auto config = config_of(source, conversion.type());
  if (!config) return tl::unexpected(config.error());

  const fs::path temporary = target.string() + ".tmp";
  const std::vector<SideFile> side_files = {
      {std::string(config_name), *config},
      {std::string(weights_index_name), index_of(conversion.files(), stem)}};
  auto written = prepare_files(temporary, conversion.files(), side_files);
  if (!written) return written;
  written = conversion.write(temporary);
  if (!written) {
    fs::remove_all(temporary, error);
    return written;
  }
  fs::rename(temporary, target, error);
  if (error) return system_failure("rename", temporary, error.value());
  sync_folder(target.parent_path());
  return {};
}

}  // namespace cpplan::checkpoint
