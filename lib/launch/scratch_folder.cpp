#include "launch/scratch_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace cpplan::launch {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view prefix = "cpplan-", letters = "XXXXXX";  // as mkdtemp takes them
/// A launcher that has just made its folder is about to lock it.
constexpr std::chrono::minutes youth{1};

/// The system lets go of it when the launcher ends, however it does. -1: somebody has it.
int lock_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

bool is_old(const fs::path& folder) {
  std::error_code error;
  const auto changed = fs::last_write_time(folder, error);
  return !error && fs::file_time_type::clock::now() - changed > youth;
}

/// Somebody else may name a folder like ours, but does not put into it what we do.
bool is_ours(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const record::RunFolder as_ours{folder};
  std::error_code ignored;
  return name.starts_with(prefix) && name.size() == prefix.size() + letters.size() &&
         fs::is_directory(as_ours.shared_memory(), ignored) &&
         fs::is_directory(as_ours.session(), ignored);
}

/// Folders of other users cannot be opened, and stay.
void remove_left_behind(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const fs::path& folder = entry.path();
    if (!is_ours(folder) || !is_old(folder)) continue;
    const int lock = lock_folder(folder);
    if (lock < 0) continue;
    fs::remove_all(folder, ignored);
    close(lock);
  }
}

/// A new folder that only we can read; empty where `parent` cannot be written to.
fs::path make_folder_in(const fs::path& parent) {
  remove_left_behind(parent);
  std::string name = (parent / (std::string(prefix) + std::string(letters))).string();
  return mkdtemp(name.data()) ? fs::path(name) : fs::path();
}

/// Empty also where TMPDIR names no folder.
fs::path make_folder_below_tmpdir() {
  std::error_code none;
  const fs::path parent = fs::temp_directory_path(none);
  return none ? fs::path() : make_folder_in(parent);
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create() {
  fs::path path = make_folder_in("/dev/shm");
  if (path.empty()) path = make_folder_below_tmpdir();
  if (path.empty())
    return failure(fmt::format(
        "cannot make a scratch folder ({}). Set TMPDIR to a folder that can be written to",
        std::strerror(errno)));
  ScratchFolder scratch(record::RunFolder{path}, lock_folder(path));
  std::error_code error;
  fs::create_directory(scratch.folder().shared_memory(), error);
  if (!error) fs::create_directory(scratch.folder().session(), error);
  if (error)
    return failure(fmt::format("cannot make a folder in {} ({})", path.string(), error.message()));
  return scratch;
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : folder_{std::exchange(other.folder_.path, {})}, lock_(std::exchange(other.lock_, -1)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!folder_.path.empty()) fs::remove_all(folder_.path, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace cpplan::launch
