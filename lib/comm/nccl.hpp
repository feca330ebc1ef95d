#pragma once
// Groups whose tensors are in the memory of GPUs, one a rank, over NCCL. A transfer starts behind
// what the rank has queued to compute, and runs beside what comes after; waiting for it makes the
// compute stream wait, never the host.
//
// What differs from the contract of communicator.hpp: a sum is in NCCL's own order, which is that
// of its algorithm (ring, tree, switch) for this size on these machines. It is the same on all
// ranks, and in all runs on the same machines with the same NCCL, but not the one of the other
// transports: runs over both agree to rounding, not bit for bit. bf16 is summed as NCCL does it, in
// f32 and rounded at every hop at most. Of a maximum NCCL's kernels keep a number rather than a
// NaN; the one maximum of a step is of logits, whose NaN the sum of exponentials behind it keeps.
#include <memory>
#include <vector>

#include "comm/nccl_world.hpp"

namespace cpplan::comm {

/// group: one for all. to_next, to_previous: one for each pair of neighbours of a pipeline that
/// sends that way, and round its ends: a stage may wait for the stage before while what it sent
/// waits for the one behind.
enum class NcclLanes : std::uint8_t { group, to_next, to_previous };

/// The end that a rank has of a group of two and more. `host` is its end of the same group on a
/// transport of the host, which carries the ids; `members` are world ranks. Called by all ranks of
/// the group together, which are connected when they first exchange.
std::unique_ptr<Communicator> make_nccl_communicator(NcclWorld&, Communicator& host,
                                                     std::vector<int> members, NcclLanes,
                                                     kernels::Trace&);

}  // namespace cpplan::comm
