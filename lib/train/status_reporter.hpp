#pragma once
// Tells a launcher on another host what this rank is doing: its entry as a line of standard error,
// some times a second while it changes and once a second while it does not.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "record/rank_report.hpp"

namespace cpplan::train {

class StatusReporter {
 public:
  using Write = std::function<void(const std::string& line)>;

  /// Reports for as long as it lives, first of all now. `status` outlives it; `write` is called
  /// from one thread at a time.
  StatusReporter(const record::StatusFile& status, Write write);
  ~StatusReporter();
  StatusReporter(const StatusReporter&) = delete;
  StatusReporter& operator=(const StatusReporter&) = delete;

  /// The entry as it is at this moment: for what must not be lost, since the end may be near.
  void report_now();
  /// The last report, with what came of the run.
  void report_end(int exit_code);

 private:
  void keep_reporting(const std::stop_token& stop);
  bool changed() const;

  const record::StatusFile& status_;
  record::RankReport last_;
  Write write_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses all the rest
};

/// Whole lines to standard error, whatever else is written there.
void write_line_to_stderr(const std::string& line);

}  // namespace cpplan::train
