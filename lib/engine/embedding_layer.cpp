#include "engine/embedding_layer.hpp"

namespace cpplan::engine {

void EmbeddingLayer::forward(Step& step, Tensor y) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor partial = tp_.partial(step, y);
  step.ops(kernels::Embed{.tokens = step.batch.tokens,
                          .weight = table_.value,
                          .y = partial,
                          .first_row = first_row(step)});
  tp_.reduce(step, partial, y);
}

void EmbeddingLayer::backward(Step& step, Tensor grad) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor dy = tp_.gather(step, grad);
  const auto add_to = [&](Tensor gradient) {
    step.ops(kernels::EmbedBackward{
        .tokens = step.batch.tokens, .dy = dy, .dweight = gradient, .first_row = first_row(step)});
  };
  if (step.weight_gradients == WeightGradients::in_place) return add_to(table_.grad);
  const Tensor made = step.scratch.like(table_.grad);
  step.ops(kernels::Fill{made, 0.0});
  add_to(made);
  step.ops(kernels::Add{made, table_.grad});
}

}  // namespace cpplan::engine
