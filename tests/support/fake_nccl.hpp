#pragma once
// NCCL over the threads of one process, as strict as its manual allows. Streams are HostStreams. An
// operation blocks its stream until all its peers have come to theirs, and a send until it is
// received, however small; the operations of one group run together, those of two groups one after
// the other. Operations match by their order alone, and ranks that disagree about kind, size or
// type wait for ever. Calls are non-blocking: what a group queues reaches the stream when
// async_error() has said in_progress a few times, and for the first operation between two ranks
// when both have called it. Where nccl.h leaves the result open the fake takes what NCCL's kernels
// do: sums are in an order of their own, and a maximum drops NaN.
#include <string>

#include "comm/nccl_api.hpp"

namespace cpplan::test {

const comm::NcclApi& fake_nccl();

/// What stands still in all communicators, a line each: "communicator 0: rank 1 receives 30 f32
/// from rank 0". Of operations that met and do not fit, both ends.
std::string standing_still();

/// From now on the communicator reports `error`, as for a network that broke, until it is aborted.
void break_communicator(comm::NcclApi::Comm*, comm::NcclApi::Result error);

/// The same for all that live: of every rank whose number in its group is `rank`.
void break_communicators_of(int rank, comm::NcclApi::Result error);

}  // namespace cpplan::test
