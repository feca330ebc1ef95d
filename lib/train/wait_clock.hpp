#pragma once
// How long a rank waits for its peers, by group.
#include <chrono>
#include <map>
#include <string>

#include "kernels/trace.hpp"

namespace cpplan::train {

class WaitClock {
 public:
  using Waited = std::map<std::string, std::chrono::duration<double>, std::less<>>;

  /// The rank is about to block.
  void begin() { since_ = Clock::now(); }
  void end(std::string_view group) {
    if (!in_step_) return;
    const auto entry = waited_.find(group);
    auto& waited = entry == waited_.end() ? waited_[std::string(group)] : entry->second;
    waited += Clock::now() - since_;
  }
  /// Waits between steps (for the disk, say) do not count.
  void begin_step() { in_step_ = true; }
  void end_step() { in_step_ = false; }
  void forget() { waited_.clear(); }
  const Waited& waited() const { return waited_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool in_step_ = false;
  Clock::time_point since_;
  Waited waited_;
};

/// For ranks that nobody watches.
class WaitTrace final : public kernels::Trace {
 public:
  void compute(std::string_view, const kernels::Cost&) override {}
  void start(const kernels::TransferStart&) override {}
  void waiting(std::string_view, int) override { clock_.begin(); }
  void wait(std::string_view group, int) override { clock_.end(group); }
  WaitClock& clock() { return clock_; }

 private:
  WaitClock clock_;
};

}  // namespace cpplan::train
