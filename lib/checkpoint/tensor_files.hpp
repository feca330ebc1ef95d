#pragma once
// The tensors of a folder of safetensors files, to be read slice by slice: a checkpoint of ours, or
// a model as Hugging Face's library saves it.
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/file.hpp"
#include "checkpoint/safetensors.hpp"
#include "checkpoint/slice.hpp"

namespace cpplan::checkpoint {

class TensorFiles {
 public:
  /// The named files of the folder, all their tensors. Error: one cannot be read, or a tensor is in
  /// two.
  static Result<TensorFiles> open(const std::filesystem::path& folder,
                                  std::span<const std::string> files);
  /// The files of a model: those that model.safetensors.index.json names, else model.safetensors.
  /// Error: neither is there, or a file lacks what the index says of it.
  static Result<TensorFiles> open_model(const std::filesystem::path& folder);

  /// nullptr: there is none of that name.
  const StoredTensor* find(std::string_view tensor) const;
  std::vector<std::string> names() const;
  /// The file that has the tensor. Contract: there is one.
  const std::string& file_of(std::string_view tensor) const;
  /// Error: there is no such tensor, or it has another shape than `shard` is of.
  Result<void> check(std::string_view tensor, const layout::TensorShard& shard) const;

  /// The slice's elements in its order, as `type`; padding of the slice is left alone. Error: there
  /// is no such tensor, it has another shape, or the file cannot be read.
  Result<void> read(std::string_view tensor, const Slice&, ElementType type,
                    std::span<std::byte> into) const;
  /// Likewise, as the bytes are.
  Result<std::vector<std::byte>> read_raw(std::string_view tensor, const Slice&) const;

 private:
  struct Place {
    std::size_t file = 0;
    StoredTensor tensor;
  };
  Result<const Place*> place(std::string_view tensor, const layout::TensorShard&) const;

  std::filesystem::path folder_;
  std::vector<File> files_;
  std::vector<std::string> file_names_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace cpplan::checkpoint
