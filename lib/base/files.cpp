#include "base/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace cpplan {
namespace {

/// Closes its file on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

/// errno of the failed call, or 0.
int read_all(int fd, std::string& out) {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n > 0) out.append(buffer.data(), static_cast<std::size_t>(n));
    if (n == 0) return 0;
    if (n < 0 && errno != EINTR) return errno;
  }
}

int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n >= 0) content.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) return errno;
  }
  return 0;
}

/// A name that no other process or thread uses.
std::string temporary_name(const std::filesystem::path& path) {
  static std::atomic<int> next = 0;
  return path.string() + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(next++);
}

int write_and_sync(Descriptor& file, std::string_view content) {
  if (const int error = write_all(file.get(), content)) return error;
  if (::fsync(file.get()) != 0) return errno;
  return file.close() ? 0 : errno;
}

}  // namespace

tl::unexpected<Error> system_failure(std::string_view verb, const std::filesystem::path& path,
                                     int error) {
  std::string reason = std::generic_category().message(error);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
    reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return failure("cannot " + std::string(verb) + " " + path.string() + " (" + reason + ")");
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.valid()) static_cast<void>(::fsync(opened.get()));
}

Result<std::string> read_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return system_failure("read", path, errno);
  std::string content;
  if (const int error = read_all(file.get(), content)) return system_failure("read", path, error);
  return content;
}

Result<std::string> read_standard_input() {
  std::string content;
  if (const int error = read_all(STDIN_FILENO, content))
    return system_failure("read", "standard input", error);
  return content;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::string temporary = temporary_name(path);
  Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.valid()) return system_failure("write", path, errno);
  int error = write_and_sync(file, content);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return system_failure("write", path, error);
  }
  sync_folder(path.parent_path());
  return {};
}

}  // namespace cpplan
