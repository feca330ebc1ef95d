#pragma once
// Which model a config means: the registry's entry of `base_model`, then the config's own values on
// top, so that an override always wins.
#include <optional>

#include "config/training_config.hpp"
#include "model/model_spec.hpp"

namespace cpplan::model {

/// What is known of the model; 0 in a dimension that neither the registry nor the config gives.
/// Key-value heads default to the attention heads, the head dimension to hidden_size / heads.
ModelSpec known_dimensions(const config::TrainingConfig&);

/// The model, where every dimension is known, positive and small enough to be counted.
std::optional<ModelSpec> resolve_model(const config::TrainingConfig&);

/// parameter_count() of dimensions that a user wrote; none where it does not fit 64 bits.
std::optional<Index> checked_parameter_count(const ModelSpec&);

}  // namespace cpplan::model
