#pragma once
// Launches and other work in the order of its stream: run when somebody waits for it, as late as a
// device may, or at once (settings.hpp). A test that stands in for another library queues its work
// here, too.
#include <functional>

#include "kernels/cuda/runtime.hpp"

namespace cpplan::emulator {

/// Queues `work`, which runs on a thread of the host.
void enqueue(const kernels::cuda::Stream& stream, std::function<void()> work);

/// Queues `kernel`, once for every thread of the grid. Throws Defect for a shape that no device
/// takes; what goes wrong inside is thrown by who waits for it.
void enqueue_launch(const kernels::cuda::Stream& stream, const kernels::cuda::LaunchShape& shape,
                    std::function<void()> kernel);

}  // namespace cpplan::emulator
