#pragma once
// A copy of what this rank saves, on the host: it is written to disk while training goes on.
#include <memory>
#include <vector>

#include "checkpoint/write.hpp"
#include "engine/snapshot.hpp"

namespace cpplan::train {

class Snapshot {
 public:
  /// Makes room, as the plan counts it. `parameters` stay where they are.
  explicit Snapshot(std::span<const engine::Parameter> parameters);

  /// Overwrites the last one.
  void take(kernels::Ops&);
  std::span<const checkpoint::Piece> pieces() const { return pieces_; }

 private:
  std::vector<engine::StatePart> parts_;
  std::unique_ptr<std::byte[]> host_;
  std::vector<checkpoint::Piece> pieces_;  // one a part
};

/// The same part of the tensor in a checkpoint.
checkpoint::Slice slice_of(const engine::StatePart&);

}  // namespace cpplan::train
