#include "engine/parameter_gathering.hpp"

namespace cpplan::engine {
namespace {

bool gathers(const DataParallelSettings& settings) {
  const bool late = settings.sharding == Sharding::optimizer && settings.overlap_parameters;
  return settings.sharding == Sharding::parameters || late;
}

bool in_lanes(const DataParallelSettings& settings) {
  return settings.sharding == Sharding::parameters && settings.reshard_after_forward;
}

}  // namespace

ParameterGathering::ParameterGathering(const Groups& groups, const Job& job,
                                       const ParameterStore& store)
    : groups_(groups),
      store_(store),
      gathers_(gathers(job.data_parallel)),
      in_lanes_(in_lanes(job.data_parallel)),
      buffers_(in_lanes_ ? lane_count : store.units().size()) {}

void ParameterGathering::prefetch(std::size_t unit) {
  if (!gathers_) return;
  Buffer& buffer = buffer_of(unit);
  if (buffer.unit == unit) return;
  buffer.arrival.wait();
  buffer.unit = unit;
  const ParameterUnit& u = store_.units()[unit];
  buffer.arrival = groups_.dp_shard_cp.all_gather(u.shard, u.whole);
}

void ParameterGathering::require(std::size_t unit) {
  if (!gathers_) return;
  prefetch(unit);
  buffer_of(unit).arrival.wait();
}

void ParameterGathering::forget() {
  for (Buffer& buffer : buffers_) {
    buffer.arrival.wait();
    buffer.unit = none;
  }
}

ParameterGathering::Buffer& ParameterGathering::buffer_of(std::size_t unit) {
  const auto lane = static_cast<std::size_t>(store_.units()[unit].lane);
  return buffers_[in_lanes_ ? lane : unit];
}

}  // namespace cpplan::engine
