#pragma once
// One rank's end of a transport, with all its groups. Whoever waits for one transfer moves all of
// them on, so that ranks may wait for theirs in different orders.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "comm/ledger.hpp"

namespace cpplan::comm {

/// A transfer of several messages that is under way.
class Ongoing {
 public:
  struct Awaited {
    std::string peer, operation;  // "rank 3", "all_reduce of group \"tp\""
  };
  virtual ~Ongoing() = default;
  /// Completes and posts what it can without blocking; true when nothing is left.
  virtual bool advance() = 0;
  /// Whom a transfer that is not done waits for.
  virtual Awaited awaited() const = 0;
  /// What comes of itself, with no message that would wake us: it is looked at again and again.
  virtual bool polled() const { return false; }
};

/// What is said of a transfer that did not end within its deadline.
std::string late(const Ongoing::Awaited&, std::chrono::milliseconds deadline);

class Endpoint {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Endpoint(std::chrono::milliseconds deadline) : deadline_(deadline) {}
  virtual ~Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// The longest a single wait may take.
  void set_deadline(std::chrono::milliseconds deadline) { deadline_ = deadline; }
  std::chrono::milliseconds deadline() const { return deadline_; }
  /// Asked in every wait: throws Failure when something beside the messages has failed. An empty
  /// one is none.
  void set_alarm(std::function<void()> alarm) { alarm_ = std::move(alarm); }

  /// Moves everything under way on and returns: for the pauses of a long computation.
  void progress();
  /// Returns when `transfer` is done. Failure past the deadline, or when the world has failed.
  void wait_for(Ongoing& transfer);

  void enter(Ongoing& transfer) { ongoing_.push_back(&transfer); }
  void leave(Ongoing& transfer) { std::erase(ongoing_, &transfer); }

  void count(std::string_view group, Collective collective, Bytes bytes, Index messages = 1);
  const Ledger& posted() const { return posted_; }

 private:
  /// Throws Failure when it is known that the world has failed.
  virtual void check() {}
  void check_all();
  /// May sleep until a message has come since the last call; not beyond `until`.
  virtual void pause(Clock::time_point until) { static_cast<void>(until); }

  std::chrono::milliseconds deadline_;
  std::function<void()> alarm_;
  std::vector<Ongoing*> ongoing_;
  Ledger posted_;
};

}  // namespace cpplan::comm
