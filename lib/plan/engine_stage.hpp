#pragma once
// What stands on one pipeline stage of our engine, counted by hand.
#include <vector>

#include "engine/job.hpp"

namespace cpplan::plan {

struct EngineStage {
  bool first = false, last = false;  // holds the embedding; holds the head
  std::vector<Index> layer_numbers;

  Index layers() const { return static_cast<Index>(layer_numbers.size()); }
  Index layers_of(engine::CpCommType, const engine::Job&) const;
  /// Parameters of one TP rank: norms are whole on each, the vocabulary padded.
  Index parameters(const engine::Job&) const;
};

/// All model chunks of pipeline stage `stage` together.
EngineStage stage_of(const engine::Job& job, int stage);

}  // namespace cpplan::plan
