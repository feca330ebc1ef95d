#pragma once
// A file that is read and written at offsets, and the bytes of it that are safe on disk.
#include <filesystem>
#include <span>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::checkpoint {

/// Owns its descriptor. Every failure names the file and the reason.
class File {
 public:
  static Result<File> open_to_read(const std::filesystem::path&);
  static Result<File> open_to_write(const std::filesystem::path&);
  /// A new file of that many bytes, its room on disk taken: a disk that is full says so here, and
  /// not after an hour. Error also where the file is there already.
  static Result<File> create(const std::filesystem::path&, Bytes size);

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  Result<Bytes> size() const;
  /// Error also where the file ends before the last byte.
  Result<void> read(Bytes offset, std::span<std::byte> into) const;
  Result<void> write(Bytes offset, std::span<const std::byte> bytes);
  /// Comes back when what was written would survive the loss of power.
  Result<void> sync();

 private:
  File(int descriptor, std::filesystem::path path);
  static Result<File> open(const std::filesystem::path&, int flags, std::string_view verb);

  int descriptor_;
  std::filesystem::path path_;
};

}  // namespace cpplan::checkpoint
