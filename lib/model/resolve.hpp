#pragma once
// Which model a config means: base_model's local folder or entry in the registry, then the config's
// own values on top, so that an override always wins.
#include <optional>

#include "base/result.hpp"
#include "config/training_config.hpp"
#include "model/model_spec.hpp"

namespace cpplan::model {

/// What is known of the model; 0 in a dimension that neither its folder, the registry nor the
/// config gives. Key-value heads default to the attention heads, the head dimension to hidden_size
/// / heads.
ModelSpec known_dimensions(const config::TrainingConfig&);

/// The model, where every dimension is known, positive and small enough to be counted.
std::optional<ModelSpec> resolve_model(const config::TrainingConfig&);

/// What is wrong with what the config says of its model beyond single numbers: base_model's folder
/// has a config.json that cannot be used or lacks keys that the config does not give, an unknown
/// model_type, a moe_layer_freq that is neither a number nor dense layers followed by routed ones.
Result<void> check_model_source(const config::TrainingConfig&);
/// The first two of these alone.
Result<void> check_model_folder(const config::ModelSettings&);
Result<void> check_model_type(const config::ModelSettings&);

/// parameter_count() of dimensions that a user wrote; none where it does not fit 64 bits.
std::optional<Index> checked_parameter_count(const ModelSpec&);

}  // namespace cpplan::model
