#pragma once
// Tells the rank's status file what it is doing, op by op and wait by wait, and adds its waits up.
#include <map>

#include "kernels/trace.hpp"
#include "record/rank_status.hpp"
#include "train/wait_clock.hpp"

namespace cpplan::train {

class StatusTrace final : public kernels::Trace {
 public:
  /// `status` outlives it; nullptr: nobody watches.
  explicit StatusTrace(record::StatusFile* status) : status_(status) {}

  void compute(std::string_view op, const kernels::Cost&) override {
    if (status_) status_->computing(op);
  }
  void start(const kernels::TransferStart& transfer) override {
    if (status_) under_way_[{transfer.group, transfer.id}] = transfer.collective;
  }
  void waiting(std::string_view group, int id) override {
    clock_.begin();
    if (!status_) return;
    const auto transfer = under_way_.find({group, id});
    status_->waiting(group, transfer == under_way_.end() ? "transfer" : transfer->second);
  }
  void wait(std::string_view group, int id) override {
    clock_.end(group);
    if (!status_) return;
    under_way_.erase({group, id});
    status_->computing("step");
  }

  WaitClock& clock() { return clock_; }

 private:
  WaitClock clock_;
  record::StatusFile* status_;
  std::map<std::pair<std::string_view, int>, std::string_view> under_way_;
};

}  // namespace cpplan::train
