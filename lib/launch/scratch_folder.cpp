#include "launch/scratch_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace cpplan::launch {
namespace {
namespace fs = std::filesystem;

/// A new folder that only we can read; empty where `parent` cannot be written to.
fs::path make_folder_in(const fs::path& parent) {
  std::string name = (parent / "cpplan-XXXXXX").string();
  return mkdtemp(name.data()) ? fs::path(name) : fs::path();
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create() {
  std::error_code ignored;
  fs::path path = make_folder_in("/dev/shm");
  if (path.empty()) path = make_folder_in(fs::temp_directory_path(ignored));
  if (path.empty())
    return failure(fmt::format(
        "cannot make a scratch folder ({}). Set TMPDIR to a folder that can be written to",
        std::strerror(errno)));
  ScratchFolder scratch(record::RunFolder{path});
  std::error_code error;
  fs::create_directory(scratch.folder().shared_memory(), error);
  if (!error) fs::create_directory(scratch.folder().session(), error);
  if (error)
    return failure(fmt::format("cannot make a folder in {} ({})", path.string(), error.message()));
  return scratch;
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : folder_{std::exchange(other.folder_.path, {})} {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!folder_.path.empty()) fs::remove_all(folder_.path, ignored);
}

}  // namespace cpplan::launch
