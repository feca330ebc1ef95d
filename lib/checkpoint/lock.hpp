#pragma once
// One run writes into a folder at a time.
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace cpplan::checkpoint {

/// What the holder writes there. Those for different things do not exclude each other.
enum class LockedFor : std::uint8_t { checkpoints, logs };

/// Held while it lives; the system lets go of it when its process ends, however it does.
class FolderLock {
 public:
  /// Makes the folder where there is none. Error, naming host, process and run: another run holds
  /// it.
  static Result<FolderLock> take(const std::filesystem::path& folder, const std::string& run,
                                 LockedFor what = LockedFor::checkpoints);
  FolderLock(FolderLock&&) noexcept;
  FolderLock& operator=(FolderLock&&) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Error, as take() has it, where another run holds the folder now.
Result<void> check_unlocked(const std::filesystem::path& folder);

}  // namespace cpplan::checkpoint
