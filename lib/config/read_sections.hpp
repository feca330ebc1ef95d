#pragma once
// The parts of read_axolotl(), one function a group of settings; and the sections that are ours and
// stand in a config of any dialect.
#include "config/section.hpp"

namespace cpplan::config {

BatchSettings read_batch(const Section& root);
FeatureSettings read_features(const Section& root);
AdapterSettings read_adapter(const Section& root);
RlSettings read_rl(const Section& root);
std::vector<DatasetSettings> read_datasets(const Section& root);

/// Hugging Face's config.json names below `section`; what it gives wins over what `m` holds.
void read_dimensions(ModelSettings& m, const Section& section);

/// cp_comm_type of `section`: one for all layers, or a list of one a layer.
void read_comm_type(TrainingConfig& config, const Section& section);

/// Everything below cpplan:, on top of what the framework's own keys gave.
void read_own_sections(TrainingConfig& config, const Section& root);

}  // namespace cpplan::config
