#pragma once
// The text that a run trains on: files that the config names, or made-up text.
#include "base/result.hpp"
#include "data/sample_source.hpp"
#include "plan/plan.hpp"

namespace cpplan::train {

enum class DataKind : std::uint8_t { files, synthetic };

struct TrainingData {
  data::SampleSource samples;
  data::TextEntropy entropy;
  std::uint64_t hash = 0;  // of all rows
  Index bytes = 0;
};

/// files: every datasets[].path, looked for beside the config file and then in the working
/// directory. Error, naming --synthetic, where one is not readable text (a hub id, say).
Result<TrainingData> load_training_data(const plan::Plan&, DataKind);

}  // namespace cpplan::train
