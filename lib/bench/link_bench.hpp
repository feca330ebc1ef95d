#pragma once
// Measures the link between two ranks of a group.
#include "bench/timing.hpp"
#include "cluster/hardware.hpp"
#include "comm/communicator.hpp"

namespace cpplan::bench {

/// Called by both ranks of `pair`. message: both send and receive at once; sum: half of a
/// reduce-scatter, whose one step adds what arrives. Ranks of the host move their bytes themselves.
cluster::Link measure_link(comm::Communicator& pair);

}  // namespace cpplan::bench
