#include "comm/nccl_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cpplan::comm {
namespace {

/// Short beside any deadline, and rare beside the transfers of a step.
constexpr std::chrono::milliseconds between_looks(10);
/// More are not listed: the message is for a reader.
constexpr std::size_t many_peers = 8;

/// "rank 1, 2 or 4"
std::string names_of(const std::vector<int>& peers) {
  if (peers.size() > many_peers) return fmt::format("one of {} ranks", peers.size());
  std::string names = fmt::format("rank {}", peers.front());
  for (std::size_t i = 1; i < peers.size(); ++i)
    names += fmt::format("{}{}", i + 1 == peers.size() ? " or " : ", ", peers[i]);
  return names;
}

}  // namespace

Ongoing::Awaited awaited_by(const NcclTransfer& transfer, const std::string& place) {
  return {names_of(*transfer.peers),
          fmt::format("{} of group \"{}\" over NCCL, on {}", name_of(transfer.collective),
                      transfer.group, place)};
}

NcclMonitor::NcclMonitor(kernels::Device& device, Settings settings)
    : device_(device), settings_(std::move(settings)) {}

NcclMonitor::~NcclMonitor() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  change_.notify_all();
  thread_.join();
}

void NcclMonitor::watch(std::shared_ptr<const NcclTransfer> transfer) {
  {
    const std::lock_guard lock(mutex_);
    under_way_.push_back(std::move(transfer));
  }
  change_.notify_all();
}

void NcclMonitor::check() const {
  if (!failed_) return;
  std::unique_lock lock(mutex_);
  change_.wait(lock, [&] { return aborted_; });
  throw Failure(*reason_);
}

void NcclMonitor::guard() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    change_.wait(lock, [&] { return ended_ || (!under_way_.empty() && !failed_); });
    if (ended_) return;
    lock.unlock();
    if (const auto reason = reason_to_end()) abort_all(*reason);
    lock.lock();
    change_.wait_for(lock, between_looks, [&] { return ended_; });
  }
}

std::optional<Failure> NcclMonitor::reason_to_end() {
  try {
    return look();
  } catch (const Failure& failure) {  // of the device
    return failure;
  }
}

/// Forgets what is through. Why all must end, if it must.
std::optional<Failure> NcclMonitor::look() {
  std::shared_ptr<const NcclTransfer> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (!under_way_.empty()) oldest = under_way_.front();
    std::erase_if(under_way_, [&](const auto& transfer) { return device_.done(transfer->end); });
    if (under_way_.empty()) return {};
    if (oldest != under_way_.front()) oldest_since_ = Clock::now();
    oldest = under_way_.front();
  }
  const auto awaited = awaited_by(*oldest, settings_.place);
  if (const auto error = settings_.error())
    return Failure(fmt::format("{} left NCCL, or NCCL failed ({}; {}). The rank that failed first "
                               "says why; NCCL_DEBUG=WARN says more",
                               awaited.peer, *error, awaited.operation),
                   Failure::Role::witness);
  if (Clock::now() >= std::max(oldest->until, oldest_since_ + oldest->deadline))
    return Failure(late(awaited, oldest->deadline));
  return {};
}

/// The reason is known before anything is let go, and told when everything is.
void NcclMonitor::abort_all(const Failure& reason) {
  {
    const std::lock_guard lock(mutex_);
    reason_ = reason;
    failed_ = true;
  }
  settings_.abort();
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  change_.notify_all();
}

}  // namespace cpplan::comm
