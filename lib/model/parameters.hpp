#pragma once
// How many weights each part of a model has: what memory, traffic and FLOPs are counted from.
#include "base/checked_count.hpp"
#include "model/model_spec.hpp"

namespace cpplan::model {

/// Weights of one layer by how tensor and expert parallelism hold them.
struct LayerParameters {
  CheckedCount attention;  // cut by TP
  CheckedCount mlp;        // of a dense MLP or the shared experts: cut by TP
  CheckedCount experts;    // of all routed experts together: cut by EP and expert TP
  CheckedCount whole;      // on every TP rank: norms, router, down-projections of latent attention

  CheckedCount total() const { return attention + mlp + experts + whole; }
};

enum class LayerKind { dense, routed };
LayerParameters layer_parameters(const ModelSpec&, LayerKind);

/// Layers of [first, end) that route to experts.
Index routed_layers(const ModelSpec&, Index first, Index end);

/// The token embedding, which the output layer shares where embeddings are tied.
CheckedCount embedding_parameters(const ModelSpec&);
/// Learned positions; 0 with rotary ones.
CheckedCount position_parameters(const ModelSpec&);
CheckedCount final_norm_parameters(const ModelSpec&);

/// Width of queries, and of the attention output before its projection; of all heads.
CheckedCount query_width(const ModelSpec&);
CheckedCount attention_output_width(const ModelSpec&);
/// Width of keys, and of values; of all heads that are kept for the backward pass.
CheckedCount key_width(const ModelSpec&);
CheckedCount value_width(const ModelSpec&);

}  // namespace cpplan::model
