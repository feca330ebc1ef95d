#pragma once
// Which tensor of a checkpoint stands in which file and where: a function of the list of tensors
// alone, so that ranks of any layout agree without a word.
#include <map>
#include <string>
#include <vector>

#include "checkpoint/safetensors.hpp"

namespace cpplan::checkpoint {

/// Files hold whole tensors and end before they would outgrow this; one tensor may be larger.
inline constexpr Bytes largest_file{Index{4} << 30};

struct PlannedFile {
  std::string name;    // model-00001-of-00003.safetensors
  std::string header;  // with its length in front
  std::vector<StoredTensor> tensors;
  Bytes size;
};

class FileSet {
 public:
  struct Place {
    std::size_t file = 0;
    StoredTensor tensor;
  };

  FileSet() = default;
  /// Adds files of that stem for the tensors, which stay in their order.
  void add(std::string_view stem, const std::vector<StoredTensor>& tensors,
           Bytes largest = largest_file);

  const std::vector<PlannedFile>& files() const { return files_; }
  const std::map<std::string, Place, std::less<>>& places() const { return places_; }
  /// Contract: there is a tensor of that name.
  const Place& place(std::string_view tensor) const;

 private:
  std::vector<PlannedFile> files_;
  std::map<std::string, Place, std::less<>> places_;
};

/// Hugging Face's model.safetensors.index.json of the files of one stem.
std::string index_of(const FileSet&, std::string_view stem);

}  // namespace cpplan::checkpoint
