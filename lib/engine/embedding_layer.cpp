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
  step.ops(kernels::EmbedBackward{
      .tokens = step.batch.tokens, .dy = dy, .dweight = table_.grad, .first_row = first_row(step)});
}

}  // namespace cpplan::engine
