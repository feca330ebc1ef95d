#pragma once
// The end of a process that hangs where no deadline can be polled: in MPI_Init, in a kernel, in a
// step that never returns. A thread that sleeps until a limit passes, and knows no MPI.
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace cpplan::comm {

/// Ends the process with `exit_code` after `limit`, whatever the caller gets stuck in meanwhile.
void exit_within(std::chrono::milliseconds limit, int exit_code);

class Watchdog {
 public:
  /// What a rank that failed exits with.
  static constexpr int exit_code = 4;
  /// Called on the watchdog's own thread with what hangs, just before _exit(4). Has 2 s.
  using LastWords = std::function<void(const std::string& what, std::chrono::milliseconds limit)>;

  explicit Watchdog(LastWords last_words);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Called off when it goes.
  class [[nodiscard]] Watch {
   public:
    Watch(Watchdog& watchdog, int id) : watchdog_(watchdog), id_(id) {}
    ~Watch() { watchdog_.call_off(id_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& watchdog_;
    int id_;
  };

  /// While the result lives, `what` ("step 12", "MPI_Init") must not take longer than `limit`.
  /// Watches may nest.
  Watch watch(std::string what, std::chrono::milliseconds limit);

 private:
  void call_off(int id);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cpplan::comm
