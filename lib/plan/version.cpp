#include <array>
#include <string_view>
#include <utility>

#include "plan/as_version.hpp"

namespace cpplan::plan {
namespace {

constexpr std::array<std::pair<std::string_view, Version>, 4> known_versions = {
    {{"axolotl@0.14", Version::axolotl_0_14},
     {"axolotl@3444", Version::axolotl_3444},
     {"axolotl@0.15", Version::axolotl_0_15},
     {"megatron", Version::megatron}}};

}  // namespace

std::optional<Version> parse_version(std::string_view name) {
  if (name == "axolotl" || name == "axolotl@latest") return Version::axolotl_0_15;
  for (const auto& [known, version] : known_versions)
    if (name == known) return version;
  return std::nullopt;
}

std::vector<std::string> version_names() {
  std::vector<std::string> all;
  for (const auto& [name, version] : known_versions) all.emplace_back(name);
  return all;
}

std::string to_string(Version version) {
  for (const auto& [name, known] : known_versions)
    if (known == version) return std::string(name);
  return {};
}

}  // namespace cpplan::plan
