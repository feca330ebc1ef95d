#include "checkpoint/file_set.hpp"

#include <fmt/format.h>

#include "base/contract.hpp"
#include "base/json.hpp"

namespace cpplan::checkpoint {
namespace {

/// Tensors in groups that fit a file each.
std::vector<std::vector<StoredTensor>> cut(const std::vector<StoredTensor>& tensors,
                                           Bytes largest) {
  std::vector<std::vector<StoredTensor>> groups;
  Bytes size{};
  for (const StoredTensor& tensor : tensors) {
    if (groups.empty() || size + tensor.bytes() > largest) groups.emplace_back(), size = {};
    groups.back().push_back(tensor);
    size += tensor.bytes();
  }
  return groups;
}

PlannedFile planned(std::string name, std::vector<StoredTensor> tensors) {
  PlannedFile file{.name = std::move(name), .tensors = std::move(tensors)};
  file.header = safetensors_header(file.tensors);
  file.size = file.tensors.back().begin + file.tensors.back().bytes();
  return file;
}

}  // namespace

void FileSet::add(std::string_view stem, const std::vector<StoredTensor>& tensors, Bytes largest) {
  auto groups = cut(tensors, largest);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto name = fmt::format("{}-{:05}-of-{:05}.safetensors", stem, i + 1, groups.size());
    files_.push_back(planned(std::move(name), std::move(groups[i])));
    for (const StoredTensor& tensor : files_.back().tensors) {
      const bool added = places_.try_emplace(tensor.name, Place{files_.size() - 1, tensor}).second;
      expect(added, "a tensor is in one file");
    }
  }
}

const FileSet::Place& FileSet::place(std::string_view tensor) const {
  const auto found = places_.find(tensor);
  expect(found != places_.end(), "the tensor is in the checkpoint");
  return found->second;
}

std::string index_of(const FileSet& set, std::string_view stem) {
  Bytes total{};
  Json weight_map = Json::object();
  for (const PlannedFile& file : set.files()) {
    if (!file.name.starts_with(fmt::format("{}-", stem))) continue;
    for (const StoredTensor& tensor : file.tensors) {
      weight_map.append_member(tensor.name, file.name);
      total += tensor.bytes();
    }
  }
  Json index = Json::object();
  index["metadata"]["total_size"] = total;
  index.append_member("weight_map", std::move(weight_map));
  return index.dump() + "\n";
}

}  // namespace cpplan::checkpoint
