#include "engine/parallel_attention.hpp"

#include <array>

#include "engine/as_type.hpp"
#include "engine/gather_attention.hpp"
#include "engine/ring_attention.hpp"

namespace cpplan::engine {
namespace {

const ContextParallel& inner_of(CpCommType type) {
  static const RingAttention ring;
  static const GatherAttention gather;
  if (type == CpCommType::all_gather) return gather;
  return ring;  // of one rank under a2a
}

int exchanging_ranks(const Job& job, CpCommType type) {
  if (type == CpCommType::a2a) return job.dims.cp;
  return type == CpCommType::a2a_p2p ? job.context_parallel.inner_size : 1;
}

using Pair = HeadExchange::Pair;

std::array<Pair, 3> pairs(Tensor q, Tensor kv, Tensor q_heads, Tensor kv_heads) {
  return {Pair{q, q_heads}, {keys(kv), keys(kv_heads)}, {values(kv), values(kv_heads)}};
}

}  // namespace

ParallelAttention::ParallelAttention(const Job& job, Index layer, AttentionShape shape)
    : inner_(inner_of(job.context_parallel.type_of(layer))),
      type_(job.context_parallel.type_of(layer)),
      exchange_(exchanging_ranks(job, type_)),
      shape_(shape),
      travels_(job.context_parallel.gradients == GradientTransport::values
                   ? shape.dtype
                   : kernels::accumulator(shape.dtype)) {
  expect(shape.heads % exchange_ == 0, "heads divide over the ranks that exchange them");
  expect(shape.kv_heads % exchange_ == 0 || exchange_ % shape.kv_heads == 0,
         "KV heads divide over the ranks that exchange heads, or are shared evenly");
}

AttentionShape ParallelAttention::exchanged_shape() const {
  AttentionShape shape = shape_;
  shape.heads /= exchange_;
  shape.kv_heads = std::max<Index>(1, shape_.kv_heads / exchange_);
  return shape;
}

AttentionTensors ParallelAttention::room(Step& step, Index rows,
                                         const AttentionShape& shape) const {
  const auto sums = kernels::accumulator(shape.dtype);
  return {.q = step.saved.make(shape.dtype, rows, shape.width()),
          .kv = step.saved.make(shape.dtype, rows, 2 * shape.kv_width()),
          .out = step.saved.make(shape.dtype, rows, shape.width()),
          .lse = step.saved.make(sums, rows, shape.heads)};
}

ParallelAttention::Inputs ParallelAttention::prepare(Step& step, Index rows, Saved& saved) const {
  saved.core = room(step, rows * exchange_, exchanged_shape());
  if (exchange_ == 1) {
    saved.out = saved.core.out;
    return {saved.core.q, saved.core.kv};
  }
  saved.out = step.saved.make(saved.core.out.dtype, rows, shape_.width());
  return {step.scratch.make(shape_.dtype, rows, shape_.width()),
          step.scratch.make(shape_.dtype, rows, 2 * shape_.kv_width())};
}

void ParallelAttention::forward(Step& step, const AttentionSettings& settings, const Inputs& inputs,
                                Saved& saved) const {
  const layout::SequenceMap merged = step.batch.map.merged(exchange_);
  if (exchange_ == 1) return attend(step, sequence(step, merged), settings, saved.core);
  comm::Communicator& group = exchanging(step);
  const HeadExchange exchange(group, step.batch.map, step.groups.cp.rank());
  exchange.to_heads(step, pairs(inputs.q, inputs.kv, saved.core.q, saved.core.kv));
  attend(step, sequence(step, merged), at_heads(step, settings), saved.core);
  const Pair out{saved.out, saved.core.out};
  exchange.to_tokens(step, {&out, 1});
}

/// Blocks are merged in the accumulator type; what is kept is rounded once.
void ParallelAttention::attend(Step& step, const SplitSequence& sequence,
                               const AttentionSettings& settings, const AttentionTensors& t) const {
  kernels::Arena::Scope scope(step.scratch);
  AttentionTensors merging = t;
  const bool rounds = t.out.dtype != t.lse.dtype;
  if (rounds) merging.out = step.scratch.make(t.lse.dtype, t.out.rows, t.out.cols);
  inner_.forward(step, sequence, settings, merging);
  if (rounds) step.ops(kernels::Copy{merging.out, t.out});
}

void ParallelAttention::backward(Step& step, const AttentionSettings& settings, Tensor dout,
                                 const Inputs& gradients, Saved& saved) const {
  const layout::SequenceMap merged = step.batch.map.merged(exchange_);
  const SplitSequence split = sequence(step, merged);
  if (exchange_ == 1) {
    return inner_.backward(step, split, settings, saved.core,
                           {dout, gradients.q, gradients.kv, travels_});
  }
  kernels::Arena::Scope scope(step.scratch);
  const AttentionTensors& core = saved.core;
  const auto sums = core.lse.dtype;
  const AttentionGradients g{.dout = step.scratch.like(core.out),
                             .dq = step.scratch.make(sums, core.q.rows, core.q.cols),
                             .dkv = step.scratch.make(sums, core.kv.rows, core.kv.cols),
                             .travels = travels_};
  comm::Communicator& group = exchanging(step);
  const HeadExchange exchange(group, step.batch.map, step.groups.cp.rank());
  const Pair incoming{dout, g.dout};
  exchange.to_heads(step, {&incoming, 1});
  inner_.backward(step, split, at_heads(step, settings), core, g);
  exchange.to_tokens(step, pairs(gradients.q, gradients.kv, as_type(step, g.dq, travels_),
                                 as_type(step, g.dkv, travels_)));
}

comm::Communicator& ParallelAttention::exchanging(const Step& step) const {
  return type_ == CpCommType::a2a ? step.groups.cp : step.groups.cp_inner;
}

SplitSequence ParallelAttention::sequence(const Step& step,
                                          const layout::SequenceMap& merged) const {
  switch (type_) {
    case CpCommType::a2a:
      return {merged};
    case CpCommType::a2a_p2p:
      return {merged, &step.groups.cp_outer};
    case CpCommType::p2p:
    case CpCommType::all_gather:
      break;
  }
  return {merged, &step.groups.cp};
}

AttentionSettings ParallelAttention::at_heads(const Step& step, AttentionSettings settings) const {
  settings.first_head += exchanging(step).rank() * exchanged_shape().heads;
  return settings;
}

}  // namespace cpplan::engine
