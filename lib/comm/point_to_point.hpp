#pragma once
// A communicator over a transport that only moves messages: it walks the steps of a schedule. The
// first step is posted at once, later ones as the endpoint makes progress.
#include <memory>
#include <vector>

#include "comm/channel.hpp"
#include "comm/endpoint.hpp"

namespace cpplan::comm {

class PointToPoint final : public Communicator {
 public:
  /// `members`: the world ranks of the group, in its order. The endpoint outlives all transfers.
  PointToPoint(Endpoint& endpoint, std::unique_ptr<Channel> channel, std::string_view group,
               std::vector<int> members, int rank, kernels::Trace& trace);

 private:
  std::unique_ptr<Work::Pending> start(const Transfer&) override;
  int next_tag(Collective);

  Endpoint& endpoint_;
  std::unique_ptr<Channel> channel_;
  std::vector<int> members_;
  int collectives_ = 0;
};

}  // namespace cpplan::comm
