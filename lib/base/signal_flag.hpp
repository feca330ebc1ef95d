#pragma once
// Signals as a question that can be asked: has one come?
#include <csignal>
#include <vector>

namespace cpplan {

/// Catches the signals while it lives, and then puts back what was there before. Whoever catches a
/// signal last has it.
class SignalFlag {
 public:
  explicit SignalFlag(std::vector<int> signals);
  ~SignalFlag();
  SignalFlag(const SignalFlag&) = delete;
  SignalFlag& operator=(const SignalFlag&) = delete;

  /// Whether one of them came since this was made.
  bool raised() const;

 private:
  std::vector<int> signals_;
  std::vector<struct sigaction> before_;
};

}  // namespace cpplan
