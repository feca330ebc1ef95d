#pragma once
// The arithmetic of a ring step on host memory.
#include "comm/communicator.hpp"

namespace cpplan::comm {

/// into[i] = reduce(received[i], own[i]), element by element; `into` may be either of them. All of
/// one shape and type.
void reduce_into(const Tensor& into, const Tensor& received, const Tensor& own, Reduce);

}  // namespace cpplan::comm
