#pragma once
// The backend that computes nothing. Checks, costs and the trace come from Ops itself, so running a
// step on it records every FLOP, byte and message of the real one, for any rank of any world.
#include <memory>

#include "kernels/backend.hpp"

namespace cpplan::kernels {

/// Addresses of its tensors are never backed by memory; Download leaves its target untouched.
std::unique_ptr<Ops> make_meta_ops(Trace& trace);

}  // namespace cpplan::kernels
