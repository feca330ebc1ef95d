#pragma once
// SIGINT and SIGTERM as a question that can be asked: has somebody asked for the end?

namespace cpplan::launch {

/// Catches both signals while it lives. One at a time in a process.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool made() const;
};

}  // namespace cpplan::launch
