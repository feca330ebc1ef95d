#pragma once
// Which transformer layers Megatron puts on which pipeline rank.
#include <optional>
#include <string_view>
#include <vector>

#include "config/training_config.hpp"

namespace cpplan::plan {

/// Transformer layers of each pipeline rank, all its virtual stages together: by the layout, the
/// uneven end stages, or evenly with the embedding and the loss counted as a layer where the config
/// asks for that (core/transformer/transformer_config.py). None where that leaves a rest.
std::optional<std::vector<int>> megatron_stage_layers(const config::TrainingConfig&, Index layers,
                                                      Index stages);

/// Model chunks of a pipeline rank: 1 without interleaving. None where the layers do not say, or do
/// not divide.
std::optional<Index> virtual_stages(const config::TrainingConfig&, Index layers, Index stages);

/// `stages` counts of layers, each cut into `chunks`: chunk v of stage p stands at v * stages + p.
/// None where one does not divide.
std::optional<std::vector<int>> divided(const std::vector<int>& stage_layers, Index chunks);

/// Transformer layers of each virtual stage; chunk v of rank p is number v * stages + p
/// (core/transformer/transformer_layer.py, get_transformer_layer_offset). None as above.
std::optional<std::vector<int>> virtual_stage_layers(const config::TrainingConfig&, Index layers,
                                                     Index stages, Index chunks);

/// "Et*3|(tt|)*6mL": the transformer layers (t) of each stage, stages by `|`; x*3 and (x)*3 repeat,
/// E is the embedding, m a layer for multi-token prediction, L the loss. None where it cannot be
/// read (core/transformer/pipeline_parallel_layer_layout.py).
std::optional<std::vector<Index>> parse_pipeline_layout(std::string_view layout);

}  // namespace cpplan::plan
