#pragma once
// A transfer under way.
#include <exception>
#include <memory>
#include <string_view>

#include "base/contract.hpp"
#include "kernels/trace.hpp"

namespace cpplan::comm {

/// wait() puts the transfer before whatever the rank computes next (on cuda the stream waits, not
/// the host); past its deadline, or when a peer has failed, it throws Failure. Dropping one that
/// was not waited for breaks a contract, unless the step is failing already.
class [[nodiscard]] Work {
 public:
  struct Pending {
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };

  Work() = default;
  Work(std::unique_ptr<Pending> pending, kernels::Trace& trace, std::string_view group, int id)
      : pending_(std::move(pending)), trace_(&trace), group_(group), id_(id) {}
  Work(Work&&) = default;
  Work& operator=(Work&& other) {
    expect(!pending_, "a transfer is waited for before it is replaced");
    pending_ = std::move(other.pending_);
    trace_ = other.trace_, group_ = other.group_, id_ = other.id_;
    return *this;
  }
  ~Work() {
    expect(!pending_ || std::uncaught_exceptions() > 0,
           "a transfer is waited for before its buffers go");
  }

  void wait() {
    if (!pending_) return;
    const auto pending = std::move(pending_);
    trace_->waiting(group_, id_);
    pending->wait();
    trace_->wait(group_, id_);
  }

 private:
  std::unique_ptr<Pending> pending_;
  kernels::Trace* trace_ = nullptr;
  std::string_view group_;
  int id_ = 0;
};

}  // namespace cpplan::comm
