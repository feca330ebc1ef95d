#include "engine/parameter_gathering.hpp"

namespace cpplan::engine {

ParameterGathering::ParameterGathering(const Groups& groups, const Job& job,
                                       const ParameterStore& store)
    : groups_(groups),
      settings_(job.data_parallel),
      store_(store),
      buffers_(settings_.reshard_after_forward ? lane_count : store.units().size()) {}

void ParameterGathering::prefetch(std::size_t unit) {
  if (settings_.sharding != Sharding::parameters) return;
  Buffer& buffer = buffer_of(unit);
  if (buffer.unit == unit) return;
  buffer.arrival.wait();
  buffer.unit = unit;
  const ParameterUnit& u = store_.units()[unit];
  buffer.arrival = groups_.dp_shard_cp.all_gather(u.shard, u.whole);
}

void ParameterGathering::require(std::size_t unit) {
  if (settings_.sharding != Sharding::parameters) return;
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
  return buffers_[settings_.reshard_after_forward ? lane : unit];
}

}  // namespace cpplan::engine
