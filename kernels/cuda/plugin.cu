#include "kernels/cuda/plugin.hpp"

#include <cstdlib>

#include "kernels/cuda/cuda_ops.hpp"
#include "kernels/cuda/runtime.hpp"

namespace cpplan::kernels::cuda {
namespace {

PluginDevices find_plugin_devices() {
  const Devices found = find_devices();
  PluginDevices result{{}, found.problem};
  for (int device = 0; device < found.count; ++device) {
    const DeviceProperties properties = device_properties(device);
    result.devices.push_back({properties.name, properties.memory});
  }
  return result;
}

/// Streams share the queues to the device, eight unless told otherwise, and in one queue a transfer
/// that waits for its peer holds up whatever came after it. CUDA reads this when it starts.
void ask_for_queues() {
  constexpr int keep = 0;  // what the user has set
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", keep);
}

constexpr Plugin plugin{CPPLAN_VERSION, find_plugin_devices, make_cuda_ops};

}  // namespace
}  // namespace cpplan::kernels::cuda

/// The one name that the plug-in shows; called before anything that is CUDA's.
extern "C" __attribute__((visibility("default"))) const cpplan::kernels::cuda::Plugin*
cpplan_cuda_plugin() {
  cpplan::kernels::cuda::ask_for_queues();
  return &cpplan::kernels::cuda::plugin;
}
