#pragma once
// The traits of a model that Megatron's own settings decide; its dimensions stand under Hugging
// Face's names already.
#include "config/training_config.hpp"
#include "model/model_spec.hpp"

namespace cpplan::model {

/// Megatron's defaults (megatron/training/arguments.py) with what the config says on top: without a
/// word a LayerNorm, learned positions, a plain MLP of 4 * hidden_size, biases and dropout 0.1.
void apply_megatron(const config::TrainingConfig&, ModelSpec&);

/// Layers that route to experts, as moe_layer_freq says: "2" is every second one from the first on,
/// "([0]*3+[1]*58)" three dense ones and then all.
struct RoutedLayers {
  Index first_dense_layers = 0, layer_frequency = 1;
};
/// None where it is neither form.
std::optional<RoutedLayers> parse_moe_layer_freq(std::string_view text);

}  // namespace cpplan::model
