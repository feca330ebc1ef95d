#pragma once
// A rank of a group that exists on paper: it moves nothing, and its trace tells what would move.
#include <memory>

#include "comm/communicator.hpp"

namespace cpplan::comm {

/// Rank `rank` of `size`. Tensors may point anywhere; nobody reads them.
std::unique_ptr<Communicator> make_meta_communicator(std::string_view group, int rank, int size,
                                                     kernels::Trace& trace);

}  // namespace cpplan::comm
