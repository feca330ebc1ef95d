#pragma once
// Attention of one layer under its cp_comm_type. p2p is a ring, all_gather a gather; a2a exchanges
// heads among all CP ranks and then attends to a whole sequence; a2a+p2p exchanges heads among
// neighbours and passes keys round a ring of the groups they form.
#include "engine/context_parallel.hpp"
#include "engine/head_exchange.hpp"
#include "engine/job.hpp"

namespace cpplan::engine {

/// Of one layer on this rank, in the layout of tokens.
struct AttentionShape {
  Index heads = 0, kv_heads = 0, head_dim = 0;
  kernels::DType dtype = kernels::DType::f32;
  Index width() const { return heads * head_dim; }
  Index kv_width() const { return kv_heads * head_dim; }
};

class ParallelAttention {
 public:
  struct Saved {
    AttentionTensors core;  // in the layout of heads where they are exchanged
    Tensor out;             // [rows, heads * head_dim] of this rank's rows, like q
  };
  /// Of this rank's rows: q [rows, heads * head_dim], kv = [k | v].
  struct Inputs {
    Tensor q, kv;
  };

  /// Contract: a2a needs heads that divide by the exchanging ranks, and KV heads that divide by
  /// them or divide them.
  ParallelAttention(const Job&, Index layer, AttentionShape);

  /// Makes room for what backward needs, and says where q and kv are to be written: forward() must
  /// run in the same Scope of scratch.
  Inputs prepare(Step&, Index rows, Saved&) const;
  /// Attends; the result is saved.out.
  void forward(Step&, const AttentionSettings&, const Inputs&, Saved&) const;
  /// dout like q. gradients: overwritten with dq and dkv of this rank's rows, accumulator type.
  void backward(Step&, const AttentionSettings&, Tensor dout, const Inputs& gradients,
                Saved&) const;

 private:
  comm::Communicator& exchanging(const Step&) const;
  SplitSequence sequence(const Step&, const layout::SequenceMap& merged) const;
  void attend(Step&, const SplitSequence&, const AttentionSettings&, const AttentionTensors&) const;
  AttentionTensors room(Step&, Index rows, const AttentionShape&) const;
  AttentionSettings at_heads(const Step&, AttentionSettings) const;
  AttentionShape exchanged_shape() const;

  const ContextParallel& inner_;
  CpCommType type_;
  int exchange_;  // ranks that exchange heads; 1: none do
  AttentionShape shape_;
  kernels::DType travels_;  // gradients between CP ranks
};

}  // namespace cpplan::engine
