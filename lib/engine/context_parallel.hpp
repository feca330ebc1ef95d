#pragma once
// Attention over a sequence that is split over the CP ranks. Which rows meet which is the map's to
// say; masks come from global positions, so any band is right in any step.
#include "engine/layer.hpp"

namespace cpplan::engine {

/// Rows are this rank's. kv = [k | v], so that a ring step is one message.
struct AttentionTensors {
  Tensor q;         // [rows, heads * head_dim]
  Tensor kv;        // [rows, 2 * kv_heads * head_dim]
  Tensor out, lse;  // [rows, heads * head_dim], [rows, heads], accumulator type
};

/// Accumulator type. dq and dkv are overwritten.
struct AttentionGradients {
  Tensor dout, dq, dkv;
};

struct AttentionSettings {
  Index head_dim = 0, first_head = 0;  // first_head: global number of the first head here
  kernels::Band band = kernels::causal;
  double scale = 1;
  kernels::Dropout dropout{};
};

class ContextParallel {
 public:
  virtual ~ContextParallel() = default;
  virtual void forward(Step&, const AttentionSettings&, const AttentionTensors&) const = 0;
  virtual void backward(Step&, const AttentionSettings&, const AttentionTensors&,
                        const AttentionGradients&) const = 0;
};

}  // namespace cpplan::engine
