#include "comm/mailbox.hpp"

namespace cpplan::comm {

void Mailbox::deliver(const Lane& lane, Contents contents) {
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = queues_[lane];
    queue.waiting.emplace(queue.delivered++, std::move(contents));
    ++events_;
  }
  arrival_.notify_one();
}

Index Mailbox::ticket(const Lane& lane) {
  const std::lock_guard lock(mutex_);
  return queues_[lane].asked++;
}

std::optional<Mailbox::Contents> Mailbox::take(const Lane& lane, Index ticket) {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(lane);
  auto message = queue->second.waiting.extract(ticket);
  if (!message) return std::nullopt;
  // Tags of collectives are many; a lane where all is matched starts anew.
  Queue& rest = queue->second;
  if (++rest.taken == rest.asked && rest.taken == rest.delivered) queues_.erase(queue);
  return std::move(message.mapped());
}

void Mailbox::pause(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  arrival_.wait_until(lock, until, [&] { return events_ != seen_ || closed_; });
  seen_ = events_;
}

void Mailbox::close(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    closed_ = reason;
  }
  arrival_.notify_all();
}

std::optional<std::string> Mailbox::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace cpplan::comm
