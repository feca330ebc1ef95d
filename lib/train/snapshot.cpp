#include "train/snapshot.hpp"

namespace cpplan::train {

checkpoint::Slice slice_of(const engine::StatePart& part) {
  return {part.shard, part.range.first, part.range.count};
}

Snapshot::Snapshot(std::span<const engine::Parameter> parameters)
    : parts_(engine::saved_state(parameters)) {
  const auto room = static_cast<std::size_t>(engine::snapshot_bytes(parameters).count);
  host_ = std::make_unique<std::byte[]>(room);  // touched now, and not in the middle of a step
  Index used = 0;
  for (const engine::StatePart& part : parts_) {
    const Index bytes = part.data.bytes().count;
    pieces_.push_back(
        {part.name, slice_of(part),
         std::span<const std::byte>(host_.get() + used, static_cast<std::size_t>(bytes))});
    used += round_up(bytes, kernels::Arena::alignment);
  }
  expect(static_cast<std::size_t>(used) == room, "the plan counted the snapshot");
}

void Snapshot::take(kernels::Ops& ops) {
  Index used = 0;
  for (const engine::StatePart& part : parts_) {
    ops(kernels::Download{part.data, host_.get() + used});
    used += round_up(part.data.bytes().count, kernels::Arena::alignment);
  }
}

}  // namespace cpplan::train
