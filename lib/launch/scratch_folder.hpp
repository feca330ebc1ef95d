#pragma once
// The scratch folder of a run, for as long as it lives.
#include "base/result.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

/// Made on construction, with the folders that ranks expect in it; removed with all it holds. Those
/// that launchers which were killed left behind are removed on the way.
class ScratchFolder {
 public:
  /// Error: neither /dev/shm nor the folder for temporary files can be written to.
  static Result<ScratchFolder> create();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const record::RunFolder& folder() const { return folder_; }

 private:
  ScratchFolder(record::RunFolder folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  record::RunFolder folder_;
  int lock_;  // on the folder: it is in use
};

}  // namespace cpplan::launch
