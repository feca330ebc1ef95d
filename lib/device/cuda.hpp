#pragma once
// The CUDA plug-in, opened when it is first asked for.
#include "base/result.hpp"
#include "kernels/cuda/plugin.hpp"

namespace cpplan::device {

/// Error: it is not there, cannot be opened, or is of another version.
Result<const kernels::cuda::Plugin*> cuda_plugin();

/// The devices of this machine, at least one. Error: no plug-in, no driver, or no device.
Result<std::vector<kernels::cuda::PluginDevice>> cuda_devices();

}  // namespace cpplan::device
