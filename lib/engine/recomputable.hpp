#pragma once
// A layer that keeps its input alone and runs its forward again before its backward (Chen et al.,
// arXiv 1604.06174). Dropout is a function of counters, so there is nothing else to restore.
#include "engine/job.hpp"
#include "engine/layer.hpp"

namespace cpplan::engine {

template <Layer L>
class Recomputable {
 public:
  struct Saved {
    Tensor input;
    typename L::Saved layer;  // empty where the layer is computed again
  };

  Recomputable(Recompute recompute, L layer)
      : again_(recompute == Recompute::full), layer_(std::move(layer)) {}

  void forward(Step& step, Tensor x, Tensor y, Saved& saved) const {
    saved.input = x;
    if (!again_) return layer_.forward(step, x, y, saved.layer);
    kernels::Arena::Scope scope(step.rebuilt);
    Step discarding = step.rebuilding();
    typename L::Saved forgotten;
    layer_.forward(discarding, x, y, forgotten);
  }

  void backward(Step& step, Tensor grad, Saved& saved) const {
    if (!again_) return layer_.backward(step, grad, saved.layer);
    kernels::Arena::Scope scope(step.rebuilt);
    Step rebuilding = step.rebuilding();
    typename L::Saved rebuilt;
    layer_.forward(rebuilding, saved.input, step.rebuilt.like(saved.input), rebuilt);
    layer_.backward(rebuilding, grad, rebuilt);
  }

 private:
  bool again_;
  L layer_;
};

}  // namespace cpplan::engine
