#include "engine/snapshot.hpp"

namespace cpplan::engine {

std::vector<StatePart> state_of(const Parameter& p) {
  const auto part = [&](const char* suffix, const kernels::Tensor& data) {
    return StatePart{p.shard.name + suffix, p.shard, p.owned, data};
  };
  std::vector<StatePart> parts = {part("", p.value), part(first_moment_suffix, p.m),
                                  part(second_moment_suffix, p.v)};
  if (p.master.data != p.value.data) parts.push_back(part(master_suffix, p.master));
  return parts;
}

std::vector<StatePart> saved_state(std::span<const Parameter> parameters) {
  std::vector<StatePart> saved;
  for (const Parameter& p : parameters)
    if (p.first_replica && p.owned.count > 0)
      for (StatePart& part : state_of(p)) saved.push_back(std::move(part));
  return saved;
}

Bytes snapshot_bytes(std::span<const Parameter> parameters) {
  Bytes bytes{};
  for (const StatePart& part : saved_state(parameters))
    bytes += {round_up(part.data.bytes().count, kernels::Arena::alignment)};
  return bytes;
}

}  // namespace cpplan::engine
