#pragma once
// One run writes into a folder at a time.
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace cpplan::checkpoint {

/// Held while it lives; the system lets go of it when its process ends, however it does.
class FolderLock {
 public:
  /// Makes the folder where there is none. Error, naming host, process and run: another run holds
  /// it.
  static Result<FolderLock> take(const std::filesystem::path& folder, const std::string& run);
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
