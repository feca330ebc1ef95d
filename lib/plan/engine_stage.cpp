#include "plan/engine_stage.hpp"

#include <algorithm>

namespace cpplan::plan {

Index EngineStage::layers_of(engine::CpCommType type, const engine::Job& job) const {
  return std::ranges::count_if(
      layer_numbers, [&](Index layer) { return job.context_parallel.type_of(layer) == type; });
}

Index EngineStage::parameters(const engine::Job& job) const {
  const auto& m = job.model;
  const Index tp = job.dims.tp, h = m.hidden_size;
  const Index q = m.num_attention_heads * m.head_dim / tp;
  const Index kv = std::max<Index>(1, m.num_key_value_heads / tp) * m.head_dim;
  const Index layer = 2 * h * q + 2 * h * kv + 3 * h * (m.intermediate_size / tp) + 2 * h;
  const Index vocabulary = h * ceil_div(m.vocab_size, tp);
  const bool shares_one = first && last && m.tie_word_embeddings;
  const Index tables = Index{first} + Index{last} - Index{shares_one};
  return layers() * layer + tables * vocabulary + (last ? h : 0);
}

EngineStage stage_of(const engine::Job& job, int stage) {
  EngineStage result{.first = stage == 0, .last = stage + 1 == job.dims.pp};
  Index before = 0;
  for (std::size_t number = 0; number < job.stage_layers.size(); ++number) {
    const Index layers = job.stage_layers[number];
    if (static_cast<int>(number) % job.dims.pp == stage)
      for (Index i = 0; i < layers; ++i) result.layer_numbers.push_back(before + i);
    before += layers;
  }
  return result;
}

}  // namespace cpplan::plan
