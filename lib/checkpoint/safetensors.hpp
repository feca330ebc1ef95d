#pragma once
// One file of the safetensors format (https://huggingface.co/docs/safetensors): the length of a
// JSON header in 8 bytes, the header, then the bytes of the tensors, row-major and little-endian.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/element_type.hpp"

namespace cpplan::checkpoint {

/// What a file says of a tensor. Scalars have no dimension, vectors one, matrices two.
struct StoredTensor {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<Index> shape;
  Bytes begin;  // of its first element, from the start of the file

  Index elements() const;
  Bytes bytes() const { return elements() * size_of(type); }
};

/// Length and header of a file with these tensors, in their order and without gaps; sets `begin` of
/// each. Its length is a multiple of 8.
std::string safetensors_header(std::span<StoredTensor> tensors);

/// The tensors of a file, in the order of their bytes. Error: the header is no header, names a
/// format that we do not read, or a tensor that leaves the file or lies on another one.
Result<std::vector<StoredTensor>> read_safetensors_header(const std::filesystem::path&);

}  // namespace cpplan::checkpoint
