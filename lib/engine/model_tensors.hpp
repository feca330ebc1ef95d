#pragma once
// The tensors of a model under their global names: which there are, how tensor parallelism cuts
// them and how they begin. Names are Hugging Face Llama's.
#include <string>
#include <vector>

#include "base/units.hpp"
#include "model/model_spec.hpp"

namespace cpplan::engine {

/// How the TP ranks hold a tensor.
enum class Cut : std::uint8_t { whole, rows, columns };
enum class Initial : std::uint8_t { ones, normal };

struct TensorSpec {
  std::string name;
  Index slot = 0;            // canonical number in the model, from 0
  Index rows = 0, cols = 0;  // of the whole tensor
  Cut cut = Cut::whole;
  Initial initial = Initial::normal;
  Index kv_heads = 0;  // of keys or values: TP ranks beyond so many hold copies
  bool tied = false;   // the embedding that is the output projection, too
};

TensorSpec embedding_tensor(const model::ModelSpec&);
TensorSpec final_norm_tensor(const model::ModelSpec&);
TensorSpec output_tensor(const model::ModelSpec&);
/// What turns the last hidden state into logits: the output tensor, or the embedding it is tied to.
TensorSpec output_projection(const model::ModelSpec&);

/// The nine tensors of one transformer layer.
struct LayerTensors {
  TensorSpec attention_norm, q, k, v, o, mlp_norm, gate, up, down;
};
LayerTensors layer_tensors(const model::ModelSpec&, Index layer);

/// All of them by slot; without an output tensor where it is the embedding.
std::vector<TensorSpec> model_tensors(const model::ModelSpec&);

/// Number of slots.
Index tensor_count(const model::ModelSpec&);

}  // namespace cpplan::engine
