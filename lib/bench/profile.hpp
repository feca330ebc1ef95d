#pragma once
// From measurements to a hardware profile of this machine.
#include <string>

#include "bench/op_bench.hpp"
#include "cluster/hardware.hpp"

namespace cpplan::bench {

/// Of one rank's ops. The profile's rates are the best that the ops reached; it has no link yet.
cluster::HardwareProfile profile_of(const AllPoints& ops, std::string name, Index cores);

/// `alone`, with what ranks measured beside each other where they did: ops with busy neighbours,
/// and their link.
cluster::HardwareProfile with_neighbours(cluster::HardwareProfile alone,
                                         const cluster::HardwareProfile& together);

}  // namespace cpplan::bench
