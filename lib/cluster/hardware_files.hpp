#pragma once
// The files of configs/hardware as they were when the program was built.
#include <span>
#include <string_view>

namespace cpplan::cluster {

/// A profile, as hardware_from() reads it.
struct HardwareFile {
  std::string_view name, json;
};
/// Defined in a file that CMake generates.
std::span<const HardwareFile> hardware_files();

}  // namespace cpplan::cluster
