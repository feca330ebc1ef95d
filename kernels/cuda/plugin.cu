#include "kernels/cuda/plugin.hpp"

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

constexpr Plugin plugin{CPPLAN_VERSION, find_plugin_devices, make_cuda_ops};

}  // namespace
}  // namespace cpplan::kernels::cuda

/// The one name that the plug-in shows.
extern "C" __attribute__((visibility("default"))) const cpplan::kernels::cuda::Plugin*
cpplan_cuda_plugin() {
  return &cpplan::kernels::cuda::plugin;
}
