#pragma once
// What libcpplan_cuda.so gives the program that opens it: one function, which returns this table.
// The two are built of one source, so its types are ours; the version tells a library of another
// build.
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace cpplan::kernels::cuda {

struct PluginDevice {
  std::string name;
  Bytes memory;
};

/// The devices that this process may use; where there are none, `problem` says why.
struct PluginDevices {
  std::vector<PluginDevice> devices;
  std::string problem;
};

struct Plugin {
  const char* version = nullptr;  // of cpplan
  PluginDevices (*find_devices)() = nullptr;
  /// See make_cuda_ops().
  std::unique_ptr<Ops> (*make_ops)(Trace&, int device) = nullptr;
};

inline constexpr const char *plugin_file = "libcpplan_cuda.so",
                            *plugin_entry = "cpplan_cuda_plugin";
using PluginEntry = const Plugin* (*)();

}  // namespace cpplan::kernels::cuda
