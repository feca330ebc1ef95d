#pragma once
// One line on a terminal's standard error that says how far a run has come.
#include "base/units.hpp"

namespace cpplan::app {

/// Draws nothing where standard error is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(Index total);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(Index done);
  /// Before anything else is printed.
  void clear();

 private:
  Index total_;
  bool on_terminal_, drawn_ = false;
};

}  // namespace cpplan::app
