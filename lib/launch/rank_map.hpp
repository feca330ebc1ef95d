#pragma once
// What --dry-run shows of each rank: where it runs, and which part of the layout it is.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "launch/placement.hpp"

namespace cpplan::launch {

enum class Devices { none, one_a_rank };

struct RankPlace {
  Index rank = 0, local_rank = 0;
  std::string host;
  std::optional<Index> device;  // the local rank, where ranks compute on devices
  std::optional<Index> numa;    // node that it binds itself to; of other hosts we do not know
  layout::Coordinates at;
};

/// What is known of this host: its name, and how many NUMA nodes it has.
struct Here {
  std::string host;
  std::size_t numa_nodes = 0;
};

std::vector<RankPlace> map_ranks(const layout::Ranks&, const Placement&, Devices, const Here&);

/// A line a rank: "rank 5  host node2  local 1  tp 1  cp 0  pp 1  dp 0".
std::string to_text(const std::vector<RankPlace>&);

/// [{rank, host, local_rank, device, numa_node, tp, cp, ep, pp, dp}, ...]
Json to_json(const std::vector<RankPlace>&);

}  // namespace cpplan::launch
