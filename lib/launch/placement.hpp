#pragma once
// Which rank runs on which host: consecutive ranks share one, so that the plan's fastest dimensions
// do. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "diag/diagnostic.hpp"
#include "layout/ranks.hpp"

namespace cpplan::launch {

/// `slots`: ranks that it takes; none: its share of those that the others leave.
struct Host {
  std::string name;
  std::optional<Index> slots;
};

/// "node1:4,node2:4", or names alone. Error: an empty name, a number of slots that is none, a name
/// that is there twice.
Result<std::vector<Host>> parse_hosts(std::string_view text);

/// Open MPI's hostfile: a name a line, with slots=N behind it; # begins a comment.
Result<std::vector<Host>> parse_hostfile(std::string_view text);

class Placement {
 public:
  struct Share {
    std::string host;
    Index ranks = 0;
  };

  /// Fills the hosts in their order; those that no rank needs are left out. Error: fewer slots than
  /// ranks.
  static Result<Placement> fill(const std::vector<Host>& hosts, Index world);

  const std::vector<Share>& shares() const { return shares_; }
  Index world() const;
  /// Of the share that holds `rank`.
  std::size_t share_of(Index rank) const;
  const std::string& host_of(Index rank) const { return shares_[share_of(rank)].host; }
  /// Among the ranks of its host; the index of its device, too.
  Index local_rank(Index rank) const;

 private:
  explicit Placement(std::vector<Share> shares) : shares_(std::move(shares)) {}
  std::vector<Share> shares_;
};

/// CP530 where ranks of one tensor-parallel group are on several hosts.
diag::Diagnostics check_placement(const Placement&, const layout::Ranks&);

}  // namespace cpplan::launch
