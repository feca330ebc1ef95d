#include "engine/parameters.hpp"

namespace cpplan::engine {
using kernels::Tensor;

layout::TensorShard shard_of(const TensorSpec& spec, const layout::ParallelDims& dims, int part) {
  layout::TensorShard shard{
      .name = spec.name, .slot = spec.slot, .rows = spec.rows, .cols = spec.cols};
  shard.row_count = spec.rows, shard.col_count = spec.cols;
  switch (spec.cut) {
    case Cut::whole:
      // Norms act on sequence shards under SP, so each rank sees a part of the tokens.
      shard.partial_over_tp = dims.sequence_parallel && dims.tp > 1;
      return shard;
    case Cut::rows:
      shard.row_count = ceil_div(spec.rows, dims.tp);
      shard.first_row = part * shard.row_count;
      break;
    case Cut::columns:
      expect(spec.cols % dims.tp == 0, "columns divide by TP");
      shard.col_count = spec.cols / dims.tp;
      shard.first_col = part * shard.col_count;
      break;
  }
  shard.part = part, shard.parts = dims.tp;
  return shard;
}

ParameterStore::ParameterStore(kernels::Ops& ops, const Job& job, int tp_rank,
                               ParameterArenas arenas)
    : ops_(ops), job_(job), tp_rank_(tp_rank), arenas_(arenas) {}

Weight ParameterStore::add(const TensorSpec& spec) {
  const auto shard = shard_of(spec, job_.dims, tp_rank_);
  const Index rows = shard.row_count, cols = shard.col_count;
  const auto moments = kernels::accumulator(job_.dtype);
  const Parameter& made =
      parameters_.emplace_back(Parameter{.shard = shard,
                                         .value = arenas_.parameters.make(job_.dtype, rows, cols),
                                         .grad = arenas_.gradients.make(job_.dtype, rows, cols),
                                         .m = arenas_.optimizer.make(moments, rows, cols),
                                         .v = arenas_.optimizer.make(moments, rows, cols)});
  initialize(spec, made);
  return {made.value, made.grad};
}

void ParameterStore::initialize(const TensorSpec& spec, const Parameter& p) {
  if (spec.initial == Initial::ones) {
    ops_(kernels::Fill{p.value, 1.0});
  } else {
    ops_(kernels::Normal{.x = p.value,
                         .key = random_key(job_.seed, "init/" + spec.name),
                         .first_row = p.shard.first_row,
                         .first_col = p.shard.first_col,
                         .global_cols = p.shard.cols,
                         .valid_rows = p.shard.rows,
                         .deviation = job_.model.initializer_range});
  }
  for (const Tensor& zero : {p.grad, p.m, p.v}) ops_(kernels::Fill{zero, 0.0});
}

}  // namespace cpplan::engine
