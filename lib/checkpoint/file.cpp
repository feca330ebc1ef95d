#include "checkpoint/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.hpp"

namespace cpplan::checkpoint {

File::File(int descriptor, std::filesystem::path path)
    : descriptor_(descriptor), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open(const std::filesystem::path& path, int flags, std::string_view verb) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_failure(verb, path, errno);
  return File(descriptor, path);
}

Result<File> File::open_to_read(const std::filesystem::path& path) {
  return open(path, O_RDONLY, "read");
}

Result<File> File::open_to_write(const std::filesystem::path& path) {
  return open(path, O_WRONLY, "write");
}

Result<File> File::create(const std::filesystem::path& path, Bytes size) {
  auto file = open(path, O_RDWR | O_CREAT | O_EXCL, "write");
  if (!file || size == Bytes{}) return file;
  if (const int error = ::posix_fallocate(file->descriptor_, 0, size.count))
    return system_failure("write", path, error);
  return file;
}

Result<Bytes> File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return system_failure("read", path_, errno);
  return Bytes{status.st_size};
}

Result<void> File::read(Bytes offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t n = ::pread(descriptor_, into.data(), into.size(), offset.count);
    if (n == 0)
      return failure(
          fmt::format("cannot read {} (it ends at byte {})", path_.string(), offset.count));
    if (n < 0 && errno != EINTR) return system_failure("read", path_, errno);
    if (n < 0) continue;
    into = into.subspan(static_cast<std::size_t>(n));
    offset += {n};
  }
  return {};
}

Result<void> File::write(Bytes offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset.count);
    if (n < 0 && errno != EINTR) return system_failure("write", path_, errno);
    if (n < 0) continue;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += {n};
  }
  return {};
}

Result<void> File::sync() {
  if (::fdatasync(descriptor_) != 0) return system_failure("write", path_, errno);
  return {};
}

}  // namespace cpplan::checkpoint
