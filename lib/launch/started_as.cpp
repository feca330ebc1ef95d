#include "launch/started_as.hpp"

#include <fmt/format.h>

#include <charconv>

namespace cpplan::launch {
namespace {

std::optional<int> number(const cluster::Variables& variables, std::string_view name) {
  const auto it = variables.find(name);
  if (it == variables.end()) return {};
  int value = -1;
  const std::string& text = it->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

Result<std::optional<RankIdentity>> started_as(const cluster::Variables& variables) {
  const auto world = number(variables, "OMPI_COMM_WORLD_SIZE");
  const auto rank = number(variables, "OMPI_COMM_WORLD_RANK");
  if (!world && !rank) return std::nullopt;
  if (!world || !rank || *world < 1 || *rank < 0 || *rank >= *world)
    return failure(fmt::format(
        "rank {} of {} does not exist (OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say so). "
        "Unset both, or start the ranks with mpirun",
        rank ? std::to_string(*rank) : "unknown", world ? std::to_string(*world) : "unknown"));
  RankIdentity identity{.rank = *rank, .world = *world, .folder = {}};
  const auto folder = variables.find(run_folder_variable);
  if (folder != variables.end()) identity.folder = record::RunFolder{folder->second};
  return identity;
}

}  // namespace cpplan::launch
