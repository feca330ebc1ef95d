#include "cluster/numa.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cpplan::cluster {
namespace {
namespace fs = std::filesystem;

int number(std::string_view text) {
  int n = -1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

/// "0-3,8" -> 0, 1, 2, 3, 8, as the kernel writes it.
std::vector<int> read_cores(std::string_view list) {
  std::vector<int> cores;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    const auto dash = range.find('-');
    const int low = number(range);
    const int high = dash == range.npos ? low : number(range.substr(dash + 1));
    for (int core = low; core >= 0 && core <= high; ++core) cores.push_back(core);
  }
  return cores;
}

}  // namespace

NumaNodes numa_nodes() {
  return numa_nodes_below("/");
}

NumaNodes numa_nodes_below(const fs::path& root) {
  std::map<int, std::vector<int>> by_number;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/node", ignored)) {
    const std::string name = entry.path().filename().string();
    const int node = name.starts_with("node") ? number(std::string_view(name).substr(4)) : -1;
    const auto list = node >= 0 ? read_file(entry.path() / "cpulist") : failure("no node");
    if (list) by_number[node] = read_cores(trimmed(*list));
  }
  NumaNodes nodes;
  for (auto& [node, cores] : by_number)
    if (!cores.empty()) nodes.push_back(std::move(cores));
  return nodes;
}

}  // namespace cpplan::cluster
