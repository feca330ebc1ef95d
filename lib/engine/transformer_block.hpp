#pragma once
// One layer of the model: attention, then MLP.
#include "engine/attention_layer.hpp"
#include "engine/mlp_layer.hpp"

namespace cpplan::engine {

class TransformerBlock {
 public:
  struct Saved {
    AttentionLayer::Saved attention;
    MlpLayer::Saved mlp;
  };

  TransformerBlock(const Job& job, const TensorParallel& tp, Index layer,
                   const ParameterStore& store)
      : TransformerBlock(job, tp, layer_tensors(job.model, layer), layer, store) {}

  void forward(Step& step, Tensor x, Tensor y, Saved& saved) const {
    const Tensor middle = step.saved.like(x);
    attention_.forward(step, x, middle, saved.attention);
    mlp_.forward(step, middle, y, saved.mlp);
  }
  void backward(Step& step, Tensor grad, Saved& saved) const {
    mlp_.backward(step, grad, saved.mlp);
    attention_.backward(step, grad, saved.attention);
  }

 private:
  TransformerBlock(const Job& job, const TensorParallel& tp, const LayerTensors& tensors,
                   Index layer, const ParameterStore& store)
      : attention_(job, tp, tensors, layer, store), mlp_(job, tp, tensors, layer, store) {}

  AttentionLayer attention_;
  MlpLayer mlp_;
};
static_assert(Layer<TransformerBlock>);

}  // namespace cpplan::engine
