#pragma once
// The scratch folder of a run, for as long as it lives.
#include "base/result.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

/// Made on construction, with the folders that ranks expect in it; removed with all it holds.
class ScratchFolder {
 public:
  /// Error: neither /dev/shm nor the folder for temporary files can be written to.
  static Result<ScratchFolder> create();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const record::RunFolder& folder() const { return folder_; }

 private:
  explicit ScratchFolder(record::RunFolder folder) : folder_(std::move(folder)) {}
  record::RunFolder folder_;
};

}  // namespace cpplan::launch
