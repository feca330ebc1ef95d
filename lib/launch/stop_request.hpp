#pragma once
// SIGINT, SIGTERM and SIGHUP as a question that can be asked: has somebody asked for the end?

namespace cpplan::launch {

/// Catches them while it lives, SIGHUP not under nohup. One at a time in a process.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool made() const;
  /// Asked again, by somebody who does not want to wait for an end in order.
  bool repeated() const;
};

}  // namespace cpplan::launch
