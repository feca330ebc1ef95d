#include "checkpoint/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/files.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

/// A run that was killed a moment ago is still being cleared away.
constexpr std::chrono::milliseconds patience{3000}, pause{100};

fs::path lock_file(const fs::path& folder, LockedFor what) {
  return folder / (what == LockedFor::checkpoints ? "cpplan.lock" : "run.lock");
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// Of the open file description: two runs in one process exclude each other, too. Network file
/// systems pass it on to their server.
bool try_lock(int descriptor) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

tl::unexpected<Error> held(const fs::path& folder, LockedFor what) {
  auto holder = read_file(lock_file(folder, what)).value_or("");
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return failure(fmt::format(
      "another run writes its {} into {} ({}). wait for its end, or name another folder",
      what == LockedFor::checkpoints ? "checkpoints" : "logs", folder.string(),
      holder.empty() ? "it does not say which" : holder));
}

/// Error where the lock stays taken. A file system without locks lets everybody in.
Result<int> lock_patiently(const fs::path& folder, LockedFor what) {
  const fs::path path = lock_file(folder, what);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_failure("write", path, errno);
  for (auto waited = pause;; waited += pause) {
    if (try_lock(descriptor)) return descriptor;
    if (errno != EAGAIN && errno != EACCES) return descriptor;
    if (waited > patience) break;
    std::this_thread::sleep_for(pause);
  }
  ::close(descriptor);
  return held(folder, what);
}

}  // namespace

Result<FolderLock> FolderLock::take(const fs::path& folder, const std::string& run,
                                    LockedFor what) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_failure("make", folder, error.value());
  const auto descriptor = lock_patiently(folder, what);
  if (!descriptor) return tl::unexpected(descriptor.error());
  FolderLock lock(*descriptor);
  const std::string holder =
      fmt::format("run {} of process {} on {}\n", run, ::getpid(), host_name());
  const auto length = static_cast<ssize_t>(holder.size());
  if (::ftruncate(*descriptor, 0) != 0 ||
      ::pwrite(*descriptor, holder.data(), holder.size(), 0) != length)
    return system_failure("write", lock_file(folder, what), errno);
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> check_unlocked(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(lock_file(folder, LockedFor::checkpoints), ignored)) return {};
  const auto descriptor = lock_patiently(folder, LockedFor::checkpoints);
  if (!descriptor) return tl::unexpected(descriptor.error());
  ::close(*descriptor);
  return {};
}

}  // namespace cpplan::checkpoint
