#include "engine/parameter_units.hpp"

#include <numeric>

namespace cpplan::engine {
namespace {

UnitSpec layer_unit(const model::ModelSpec& model, Index layer) {
  const LayerTensors t = layer_tensors(model, layer);
  return {{t.attention_norm, t.q, t.k, t.v, t.o, t.mlp_norm, t.gate, t.up, t.down},
          layer % 2 == 0 ? Lane::even_layer : Lane::odd_layer};
}

/// Units of virtual stage `number`.
void add_units(const Job& job, int number, std::vector<UnitSpec>& units) {
  const auto& layers = job.stage_layers;
  const bool first = number == 0, last = number + 1 == std::ssize(layers);
  if (first) units.push_back({{embedding_tensor(job.model)}, Lane::vocabulary});
  const int before = std::accumulate(layers.begin(), layers.begin() + number, 0);
  for (int i = 0; i < layers[static_cast<std::size_t>(number)]; ++i) {
    units.push_back(layer_unit(job.model, before + i));
  }
  if (!last) return;
  units.push_back({{final_norm_tensor(job.model)}, Lane::final_norm});
  const TensorSpec output = output_projection(job.model);
  if (!output.tied || !first) units.push_back({{output}, Lane::vocabulary});
}

}  // namespace

std::vector<UnitSpec> units_of(const Job& job, int stage) {
  std::vector<UnitSpec> units;
  for (int v = 0; v < job.virtual_stages; ++v) add_units(job, v * job.dims.pp + stage, units);
  return units;
}

}  // namespace cpplan::engine
