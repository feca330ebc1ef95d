#pragma once
// The host backend: f32 and bf16 kernels on one thread a rank, vectorised for the machine they run
// on.
#include <functional>
#include <memory>

#include "kernels/backend.hpp"

namespace cpplan::kernels {

/// Computes in f32 on f32 and bf16 (Copy, Fill and Add also take f64 and i32). Results are a
/// function of the arguments and the instruction set, never of time or of the number of threads.
std::unique_ptr<Ops> make_cpu_ops(Trace& trace);

/// `hook` is called between the tiles of long kernels, so that messages move while they compute; it
/// must not run ops. An empty one is none. Contract: `ops` is the cpu backend.
void set_progress(Ops& ops, std::function<void()> hook);

}  // namespace cpplan::kernels
