#pragma once
// The backend of NVIDIA GPUs: f32 and bf16 kernels on one device a rank.
#include <memory>

#include "kernels/backend.hpp"

namespace cpplan::kernels::cuda {

/// Computes on `device` in f32 on f32 and bf16 (Copy, Fill and Add also take f64 and i32), on a
/// stream of its own, in the order of the calls. Nothing is allocated but at the start and by
/// allocate(). Results are a function of the arguments alone. Throws Failure where there is no such
/// device.
std::unique_ptr<Ops> make_cuda_ops(Trace& trace, int device);

}  // namespace cpplan::kernels::cuda
