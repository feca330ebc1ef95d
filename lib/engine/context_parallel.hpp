#pragma once
// Attention over a sequence that is split over ranks. Which rows meet which is the map's to say;
// masks come from global positions, so any band is right in any step.
#include "engine/layer.hpp"

namespace cpplan::engine {

/// Who holds a sequence: the ranks of `map`, of which this is one. A whole sequence needs no group.
struct SplitSequence {
  const layout::SequenceMap& map;
  comm::Communicator* group = nullptr;
  int size() const { return map.ranks(); }
  int rank() const { return group == nullptr ? 0 : group->rank(); }
};

/// Rows are this rank's. kv = [k | v], so that a ring step is one message.
struct AttentionTensors {
  Tensor q;    // [rows, heads * head_dim]
  Tensor kv;   // [rows, 2 * kv_heads * head_dim]
  Tensor out;  // [rows, heads * head_dim]; accumulator type while blocks are merged
  Tensor lse;  // [rows, heads], accumulator type
};

/// dout like q. dq and dkv in the accumulator type, overwritten; between ranks dkv is of type
/// `travels`.
struct AttentionGradients {
  Tensor dout, dq, dkv;
  kernels::DType travels = dkv.dtype;
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
  virtual void forward(Step&, const SplitSequence&, const AttentionSettings&,
                       const AttentionTensors&) const = 0;
  virtual void backward(Step&, const SplitSequence&, const AttentionSettings&,
                        const AttentionTensors&, const AttentionGradients&) const = 0;
};

/// Keys or values of [k | v].
inline Tensor keys(Tensor kv) {
  return kv.col_range(0, kv.cols / 2);
}
inline Tensor values(Tensor kv) {
  return kv.col_range(kv.cols / 2, kv.cols / 2);
}

/// Before the first block: nothing attended to.
void clear(Step&, const AttentionTensors&);
/// Merges what this rank's queries see of `kv`. Nothing where no block is allowed.
void attend(Step&, const AttentionSettings&, const AttentionTensors&, Tensor kv,
            std::span<const kernels::Block>);
/// Adds to dq and, for the rows of `kv`, to dkv.
void attend_backward(Step&, const AttentionSettings&, const AttentionTensors&,
                     const AttentionGradients&, Tensor kv, Tensor dkv,
                     std::span<const kernels::Block>);

}  // namespace cpplan::engine
