#pragma once
// Which cores of this machine are near which memory.
#include <filesystem>
#include <vector>

namespace cpplan::cluster {

/// The cores of each NUMA node that has some, nodes by their numbers. Empty where the kernel does
/// not say.
using NumaNodes = std::vector<std::vector<int>>;

NumaNodes numa_nodes();
/// The same with the files below another root, so that a test can make up a machine.
NumaNodes numa_nodes_below(const std::filesystem::path& root);

}  // namespace cpplan::cluster
