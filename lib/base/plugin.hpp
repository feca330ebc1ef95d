#pragma once
// Shared libraries of our own that a program opens at run time, because what they link is not on
// every machine: one binary serves all of them.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cpplan {

/// Where plug-ins are looked for: the folder that CPPLAN_PLUGINS names, alone where it is set; else
/// beside the program and in ../lib of it.
std::vector<std::filesystem::path> plugin_folders();

/// The address of `entry` in the plug-in `file` ("libcpplan_cuda.so"), which stays open. Error: it
/// is in none of the folders, or what it needs is not on this machine.
Result<void*> open_plugin(const std::string& file, const char* entry);

}  // namespace cpplan
