#include "data/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/text.hpp"

namespace cpplan::data {
namespace {

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, int code) {
  return failure(fmt::format("cannot read {} ({})", path.string(),
                             lower_case(std::generic_category().message(code))));
}

/// Closes the descriptor; a mapping lives on without it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return cannot_read(path, errno);
  struct stat status = {};
  if (::fstat(file.fd, &status) != 0) return cannot_read(path, errno);
  if (!S_ISREG(status.st_mode)) return cannot_read(path, EINVAL);
  if (status.st_size == 0) return MappedFile(nullptr, 0);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* start = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (start == MAP_FAILED) return cannot_read(path, errno);
  return MappedFile(start, bytes);
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

}  // namespace cpplan::data
