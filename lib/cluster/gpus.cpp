#include "cluster/gpus.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cpplan::cluster {
namespace {

struct Row {
  std::string_view name;
  std::string_view key;   // what a name must contain, lower case, no separators
  std::string_view size;  // what it must also contain where several share the key
  double usable_gib;
};

// Capacities that torch.cuda.get_device_properties reports, in GiB; of several firmware versions
// the lowest. Longer keys first, and of one key the smaller sizes before the one without.
constexpr Row rows[] = {
    {"GB200", "gb200", "", 184.0},
    {"GH200", "gh200", "144gb", 140.0},
    {"GH200", "gh200", "", 94.5},
    {"A100-40GB", "a100", "40gb", 39.38},
    {"A100-80GB", "a100", "", 79.1},
    {"A800-80GB", "a800", "", 79.1},
    {"H100-94GB", "h100", "94gb", 93.0},
    {"H100-80GB", "h100", "", 79.1},
    {"H800-80GB", "h800", "", 79.1},
    {"H200", "h200", "", 139.7},
    {"H20", "h20", "", 95.0},
    {"B200", "b200", "", 178.3},
    {"B300", "b300", "", 267.6},
    {"MI300X", "mi300x", "", 191.5},
    {"V100-32GB", "v100", "32gb", 31.7},
    {"V100-16GB", "v100", "", 15.7},
    {"L40S", "l40s", "", 44.3},
    {"L40", "l40", "", 44.3},
    {"L4", "l4", "", 21.9},
    {"RTX-A6000", "a6000", "", 47.3},
    {"RTX-6000-Ada", "6000ada", "", 47.3},
    {"A40", "a40", "", 44.3},
    {"A10G", "a10g", "", 21.9},
    {"A10", "a10", "", 21.9},
    {"RTX-5090", "5090", "", 31.3},
    {"RTX-4090", "4090", "", 23.5},
    {"RTX-3090", "3090", "", 23.5},
    {"T4", "t4", "", 14.5},
};

std::string folded(std::string_view name) {
  std::string text = lower_case(name);
  std::erase_if(text, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  return text;
}

Gpu gpu_of(const Row& row) {
  return {row.name, Bytes{static_cast<Index>(row.usable_gib * 1024 * 1024 * 1024)}};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<Gpu> find_gpu(std::string_view name) {
  const std::string wanted = folded(name);
  const auto* found = std::ranges::find_if(rows, [&](const Row& row) {
    return contains(wanted, row.key) && contains(wanted, row.size);
  });
  return found == std::end(rows) ? std::nullopt : std::optional(gpu_of(*found));
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const Row& row : rows)
    if (names.empty() || names.back() != row.name) names.emplace_back(row.name);
  return names;
}

}  // namespace cpplan::cluster
