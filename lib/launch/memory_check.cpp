#include "launch/memory_check.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cpplan::launch {
namespace {

std::string suggestion(const MemoryDemand& demand, Bytes available, std::optional<Bytes> shrunk) {
  const MemoryDemand smaller{demand.world, shrunk.value_or(demand.of_arenas)};
  if (smaller.total() <= available)
    return fmt::format("--shrink trains a tiny model under the same layout, which needs {}",
                       human_bytes(smaller.total()));
  return fmt::format("This memory holds {} ranks of that kind: use less parallelism",
                     available.count / (smaller.total().count / demand.world));
}

}  // namespace

Result<void> check_memory(const MemoryDemand& demand, Bytes available,
                          std::optional<Bytes> shrunk) {
  if (demand.total() <= available) return {};
  return failure(fmt::format(
      "the run does not fit this machine ({} ranks need {}, and {} of memory is available). {}",
      demand.world, human_bytes(demand.total()), human_bytes(available),
      suggestion(demand, available, shrunk)));
}

}  // namespace cpplan::launch
