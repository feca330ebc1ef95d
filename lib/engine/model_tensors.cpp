#include "engine/model_tensors.hpp"

namespace cpplan::engine {
namespace {

constexpr Index tensors_before_layers = 3;  // embedding, final norm, output
constexpr Index tensors_of_layer = 9;

}  // namespace

TensorSpec embedding_tensor(const model::ModelSpec& m) {
  TensorSpec table{"model.embed_tokens.weight", 0, m.vocab_size, m.hidden_size, Cut::rows};
  table.tied = m.tie_word_embeddings;
  return table;
}

TensorSpec final_norm_tensor(const model::ModelSpec& m) {
  return {"model.norm.weight", 1, 1, m.hidden_size, Cut::whole, Initial::ones};
}

TensorSpec output_tensor(const model::ModelSpec& m) {
  return {"lm_head.weight", 2, m.vocab_size, m.hidden_size, Cut::rows};
}

TensorSpec output_projection(const model::ModelSpec& m) {
  return m.tie_word_embeddings ? embedding_tensor(m) : output_tensor(m);
}

LayerTensors layer_tensors(const model::ModelSpec& m, Index layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const Index first = tensors_before_layers + tensors_of_layer * layer;
  const Index h = m.hidden_size, f = m.intermediate_size;
  const Index q = m.num_attention_heads * m.head_dim, kv = m.num_key_value_heads * m.head_dim;
  const auto norm = [&](const char* name, Index place) {
    return TensorSpec{prefix + name + ".weight", first + place, 1, h, Cut::whole, Initial::ones};
  };
  const auto linear = [&](const char* name, Index place, Index rows, Index cols, Cut cut) {
    return TensorSpec{prefix + name + ".weight", first + place, rows, cols, cut};
  };
  const auto of_kv = [&](const char* name, Index place) {
    TensorSpec tensor = linear(name, place, kv, h, Cut::rows);
    tensor.kv_heads = m.num_key_value_heads;
    return tensor;
  };
  return {.attention_norm = norm("input_layernorm", 0),
          .q = linear("self_attn.q_proj", 1, q, h, Cut::rows),
          .k = of_kv("self_attn.k_proj", 2),
          .v = of_kv("self_attn.v_proj", 3),
          .o = linear("self_attn.o_proj", 4, h, q, Cut::columns),
          .mlp_norm = norm("post_attention_layernorm", 5),
          .gate = linear("mlp.gate_proj", 6, f, h, Cut::rows),
          .up = linear("mlp.up_proj", 7, f, h, Cut::rows),
          .down = linear("mlp.down_proj", 8, h, f, Cut::columns)};
}

std::vector<TensorSpec> model_tensors(const model::ModelSpec& m) {
  std::vector<TensorSpec> tensors = {embedding_tensor(m), final_norm_tensor(m)};
  if (!m.tie_word_embeddings) tensors.push_back(output_tensor(m));
  for (Index layer = 0; layer < m.num_hidden_layers; ++layer) {
    const LayerTensors t = layer_tensors(m, layer);
    for (const auto* tensor :
         {&t.attention_norm, &t.q, &t.k, &t.v, &t.o, &t.mlp_norm, &t.gate, &t.up, &t.down})
      tensors.push_back(*tensor);
  }
  return tensors;
}

Index tensor_count(const model::ModelSpec& m) {
  return tensors_before_layers + tensors_of_layer * m.num_hidden_layers;
}

}  // namespace cpplan::engine
