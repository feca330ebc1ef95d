#include "device/cuda.hpp"

#include <fmt/format.h>

#include "base/plugin.hpp"

namespace cpplan::device {
namespace {
using kernels::cuda::Plugin;

Result<const Plugin*> open_cuda_plugin() {
  const auto entry = open_plugin(kernels::cuda::plugin_file, kernels::cuda::plugin_entry);
  if (!entry) return tl::unexpected(entry.error());
  const Plugin* const plugin = reinterpret_cast<kernels::cuda::PluginEntry>(*entry)();
  if (std::string_view(plugin->version) != CPPLAN_VERSION)
    return failure(
        fmt::format("{} is of cpplan {}, and this is {} (they are built together). "
                    "install both from one build",
                    kernels::cuda::plugin_file, plugin->version, CPPLAN_VERSION));
  return plugin;
}

}  // namespace

Result<const Plugin*> cuda_plugin() {
  static const auto plugin = open_cuda_plugin();
  return plugin;
}

Result<std::vector<kernels::cuda::PluginDevice>> cuda_devices() {
  const auto plugin = cuda_plugin();
  if (!plugin) return tl::unexpected(plugin.error());
  auto found = (*plugin)->find_devices();
  if (!found.devices.empty()) return std::move(found.devices);
  return failure(
      fmt::format("there is no CUDA device ({}). install the driver of the GPU, or use "
                  "the backend cpu",
                  found.problem));
}

}  // namespace cpplan::device
