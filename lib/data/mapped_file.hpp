#pragma once
// A file as memory, read from disk where it is touched.
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace cpplan::data {

class MappedFile {
 public:
  /// Error: "cannot read x (why)".
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view content() const { return {static_cast<const char*>(start_), bytes_}; }

 private:
  MappedFile(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}

  void* start_ = nullptr;  // none for an empty file
  std::size_t bytes_ = 0;
};

}  // namespace cpplan::data
