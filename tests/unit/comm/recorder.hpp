#pragma once
// A trace that keeps what it is told.
#include <string>
#include <vector>

#include "kernels/trace.hpp"

namespace cpplan::comm::test {

struct Recorder final : kernels::Trace {
  struct Start {
    int id, rank, size;
    std::string group, collective;
    Bytes sent;
    std::vector<kernels::Route> routes;
    int communicator;
  };
  std::vector<Start> starts;
  std::vector<int> waits;

  void compute(std::string_view, const kernels::Cost&) override {}
  void start(const kernels::TransferStart& s) override {
    starts.push_back({s.id,
                      s.rank,
                      s.size,
                      std::string(s.group),
                      std::string(s.collective),
                      s.sent,
                      {s.routes.begin(), s.routes.end()},
                      s.communicator});
  }
  void wait(std::string_view, int id) override { waits.push_back(id); }

  Bytes sent(const std::string& group, const std::string& collective) const {
    Bytes sum;
    for (const Start& s : starts)
      if (s.group == group && s.collective == collective) sum += s.sent;
    return sum;
  }
};

}  // namespace cpplan::comm::test
