#pragma once
// Sees to it that a rank does not hang in NCCL. The host does not wait for transfers, the device
// does, so a thread looks at those under way: when one has not ended by its deadline, or NCCL
// reports an error, every communicator of the rank is aborted. Streams then run on, whoever waits
// for one comes back, and the next call on the rank's own thread throws Failure.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/failure.hpp"
#include "comm/communicator.hpp"
#include "comm/endpoint.hpp"
#include "kernels/device.hpp"

namespace cpplan::comm {

/// A transfer, and how to name it.
struct NcclTransfer {
  std::string_view group;
  Collective collective;
  std::shared_ptr<const std::vector<int>> peers;     // world ranks, at least one
  kernels::Event end = {};                           // on its stream
  std::chrono::steady_clock::time_point until = {};  // its turn may come later, and count from then
  std::chrono::milliseconds deadline = {};
};

/// "rank 1 or 2", "all_reduce of group "tp" over NCCL, on rank 0 of host a"
Ongoing::Awaited awaited_by(const NcclTransfer&, const std::string& place);

class NcclMonitor {
 public:
  using Clock = std::chrono::steady_clock;
  struct Settings {
    std::string place;  // "rank 3 of host a", for messages
    /// What NCCL reports of any communicator, in words. Called on the monitor's thread.
    std::function<std::optional<std::string>()> error;
    /// Ends what all communicators do. Called once, on the monitor's thread.
    std::function<void()> abort;
  };

  NcclMonitor(kernels::Device&, Settings);
  ~NcclMonitor();
  NcclMonitor(const NcclMonitor&) = delete;
  NcclMonitor& operator=(const NcclMonitor&) = delete;

  void watch(std::shared_ptr<const NcclTransfer>);
  /// Throws Failure once something has failed, and everything has been aborted.
  void check() const;

 private:
  void guard();
  std::optional<Failure> reason_to_end();
  std::optional<Failure> look();
  void abort_all(const Failure& reason);

  kernels::Device& device_;
  Settings settings_;
  mutable std::mutex mutex_;
  mutable std::condition_variable change_;
  std::vector<std::shared_ptr<const NcclTransfer>> under_way_;  // the oldest first
  Clock::time_point oldest_since_;  // when the one before the oldest was seen to be through
  std::optional<Failure> reason_;
  std::atomic<bool> failed_ = false;
  bool aborted_ = false, ended_ = false;
  std::thread thread_{[this] { guard(); }};  // last, when all it uses is there
};

}  // namespace cpplan::comm
