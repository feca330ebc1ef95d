#pragma once
// Where the ranks of a run are, and whether NCCL can connect them there: it takes one rank a GPU,
// and has to be on every machine.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace cpplan::comm {

struct RankPlace {
  std::string host, bus_id;
  std::string device;   // "0 (NVIDIA H100 80GB HBM3)"
  std::string problem;  // why the rank cannot open NCCL; empty where it can
};

/// Of all ranks, in their order. `world` is of the host; called by all ranks together.
std::vector<RankPlace> gather_places(Communicator& world, const RankPlace& mine);

/// Why NCCL cannot connect them, with a way out; nothing where it can. Pure.
std::optional<std::string> why_not_nccl(std::span<const RankPlace>);

}  // namespace cpplan::comm
