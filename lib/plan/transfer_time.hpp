#pragma once
// How long a transfer takes once all of its ranks have come.
#include <span>

#include "plan/simulation.hpp"

namespace cpplan::plan {

/// Messages to several peers go at once, as far as each kind of link takes them.
double exchange_seconds(const cluster::HardwareProfile&, std::span<const kernels::Route>,
                        const SimulatedGroup&);

/// Of a collective that sends `sent` bytes from each of the group's ranks. Rings, as the engine's
/// are; an all-reduce that is moved beside the ranks' compute is a tree where that is quicker, as
/// NCCL chooses.
double collective_seconds(const cluster::HardwareProfile&, std::string_view collective, Bytes sent,
                          const SimulatedGroup&);

}  // namespace cpplan::plan
