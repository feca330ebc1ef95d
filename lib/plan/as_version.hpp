#pragma once
// What another version of a framework computes for the same config: --as.
#include <string_view>

#include "plan/plan.hpp"

namespace cpplan::plan {

/// "axolotl@0.14", "axolotl@3444", "axolotl@0.15", "axolotl" (the latest) or "megatron".
std::optional<Version> parse_version(std::string_view name);
/// The names, for messages.
std::vector<std::string> version_names();
std::string to_string(Version);

/// Its batch size and steps beside the right ones, and the passes over the data that a run of so
/// many steps would make. Before pull request 3444 axolotl divided the world by neither CP nor TP
/// and multiplied the steps by both; with it by TP alone. On the plain path the two wrongs cancel
/// up to rounding; where packing floors in between they do not.
AsVersion compute_as(Version, const Plan&);

}  // namespace cpplan::plan
