#pragma once
// Where the messages for one in-process rank arrive. Senders put copies in; the owner takes them
// out in the order in which it asked, whatever order it looks in.
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cpplan::comm {

class Mailbox {
 public:
  /// Messages of one lane match in order.
  struct Lane {
    int group, from, tag;
    friend auto operator<=>(const Lane&, const Lane&) = default;
  };
  using Contents = std::vector<std::byte>;

  void deliver(const Lane&, Contents);

  /// The owner's turn in a lane: the n-th ticket takes the n-th message.
  Index ticket(const Lane&);
  std::optional<Contents> take(const Lane&, Index ticket);

  /// Sleeps until something has come since the last call, but not beyond `until`.
  void pause(std::chrono::steady_clock::time_point until);

  /// Wakes the owner for good.
  void close(const std::string& reason);
  std::optional<std::string> closed() const;

 private:
  struct Queue {
    Index delivered = 0, asked = 0, taken = 0;
    std::map<Index, Contents> waiting;  // by number of delivery
  };

  mutable std::mutex mutex_;
  std::condition_variable arrival_;
  std::map<Lane, Queue> queues_;  // those with a message or a ticket outstanding
  Index events_ = 0, seen_ = 0;
  std::optional<std::string> closed_;
};

}  // namespace cpplan::comm
