#include "comm/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace cpplan::comm {
namespace {
using Clock = std::chrono::steady_clock;

struct Entry {
  int id;
  std::string what;
  std::chrono::milliseconds limit;
  Clock::time_point until;
};

}  // namespace

void exit_within(std::chrono::milliseconds limit, int exit_code) {
  std::thread([limit, exit_code] {
    std::this_thread::sleep_for(limit);
    _exit(exit_code);
  }).detach();
}

struct Watchdog::State {
  explicit State(LastWords words) : last_words(std::move(words)) {}

  /// The body of the thread: sleeps until the nearest limit, a change, or the end.
  void guard() {
    std::unique_lock lock(mutex);
    while (!ended) {
      const auto nearest =
          std::min_element(entries.begin(), entries.end(),
                           [](const Entry& a, const Entry& b) { return a.until < b.until; });
      if (nearest == entries.end()) {
        change.wait(lock);
      } else if (Clock::now() >= nearest->until) {
        exit_within(std::chrono::seconds(2), exit_code);  // the file system may hang as well
        last_words(nearest->what, nearest->limit);
        _exit(exit_code);
      } else {
        change.wait_until(lock, Clock::time_point(nearest->until));
      }
    }
  }

  LastWords last_words;
  std::mutex mutex;
  std::condition_variable change;
  std::vector<Entry> entries;
  int next_id = 0;
  bool ended = false;
  std::thread thread{[this] { guard(); }};  // last, when all it uses is there
};

Watchdog::Watchdog(LastWords last_words) : state_(std::make_unique<State>(std::move(last_words))) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->change.notify_one();
  state_->thread.join();
}

Watchdog::Watch Watchdog::watch(std::string what, std::chrono::milliseconds limit) {
  int id = 0;
  {
    const std::lock_guard lock(state_->mutex);
    id = state_->next_id++;
    state_->entries.push_back({id, std::move(what), limit, Clock::now() + limit});
  }
  state_->change.notify_one();
  return {*this, id};
}

void Watchdog::call_off(int id) {
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->entries, [id](const Entry& entry) { return entry.id == id; });
}

}  // namespace cpplan::comm
