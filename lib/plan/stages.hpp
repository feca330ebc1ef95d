#pragma once
// Which pipeline stage holds how many layers.
#include <optional>
#include <vector>

#include "base/units.hpp"

namespace cpplan::plan {

/// Layers of the first and last stage, where they differ from those between.
struct EndStages {
  std::optional<Index> first, last;
  friend bool operator==(const EndStages&, const EndStages&) = default;
};

/// Layers of each stage: the ends as given, the others equal. None where that leaves a rest or a
/// stage without a layer.
std::optional<std::vector<int>> stage_layers(Index layers, Index stages, const EndStages& = {});

/// Ends with which `layers` fit: the fullest stage has as few layers as possible, then the emptiest
/// as many, and the last stage, which has the head, no more than the first. None where no ends do.
std::optional<EndStages> propose_end_stages(Index layers, Index stages);

}  // namespace cpplan::plan
