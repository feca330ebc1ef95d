#pragma once
// Which cores a rank runs on. Launchers are told to bind nothing: they know neither our devices nor
// each other's rules, and ranks bind themselves alike below all of them.
#include <optional>

#include "cluster/environment.hpp"
#include "cluster/numa.hpp"

namespace cpplan::launch {

/// A rank among those of its host.
struct LocalPlace {
  Index rank = 0, ranks = 1;
};

/// As mpirun or srun say; none where neither does.
std::optional<LocalPlace> local_place(const cluster::Variables&);

/// Ranks in equal blocks over the nodes, as machines number their devices. Contract: nodes > 0.
std::size_t numa_node_of(const LocalPlace&, std::size_t nodes);

/// Keeps this process, and threads that it starts, on the cores of its node. Does nothing where
/// there is one node, or where others have allowed it none of those cores.
void bind_to_numa_node(const LocalPlace&, const cluster::NumaNodes&);

}  // namespace cpplan::launch
