#include "engine/parameters.hpp"

#include <algorithm>
#include <iterator>

#include "engine/unit_maker.hpp"

namespace cpplan::engine {
using kernels::Tensor;

namespace {

/// Cuts the shard's rows or columns into `shard.parts` and takes part `shard.part`.
void cut(Cut along, layout::TensorShard& shard) {
  if (along == Cut::rows) {
    shard.row_count = ceil_div(shard.rows, Index{shard.parts});
    shard.first_row = shard.part * shard.row_count;
  } else {
    expect(shard.cols % shard.parts == 0, "columns divide by TP");
    shard.col_count = shard.cols / shard.parts;
    shard.first_col = shard.part * shard.col_count;
  }
}

/// KV heads go to as many TP ranks as there are; the others hold copies.
void share_heads(Index heads, layout::TensorShard& shard) {
  const int copies = static_cast<int>(shard.parts / std::min<Index>(heads, shard.parts));
  if (copies == 1) return;
  shard.copy = shard.part % copies;
  shard.part /= copies;
  shard.parts /= copies;
  shard.summed_over = layout::SummedOver::tp_kv;
}

}  // namespace

layout::TensorShard shard_of(const TensorSpec& spec, const layout::ParallelDims& dims, int tp_rank,
                             int stage) {
  layout::TensorShard shard{
      .name = spec.name, .slot = spec.slot, .rows = spec.rows, .cols = spec.cols};
  shard.row_count = spec.rows, shard.col_count = spec.cols;
  if (spec.cut == Cut::whole) {
    // Norms act on sequence shards under SP, so each rank sees a part of the tokens.
    if (dims.sequence_parallel && dims.tp > 1) shard.summed_over = layout::SummedOver::tp;
    shard.copy = tp_rank;
    return shard;
  }
  shard.part = tp_rank, shard.parts = dims.tp;
  if (spec.kv_heads > 0) share_heads(spec.kv_heads, shard);
  if (spec.tied && dims.pp > 1) {
    shard.summed_over = layout::SummedOver::embedding;
    shard.copy = stage == 0 ? 0 : 1;
  }
  cut(spec.cut, shard);
  return shard;
}

Tensor ParameterUnit::matrix(const Tensor& row, std::size_t i) const {
  const layout::TensorShard& tensor = parameters[i].shard;
  const Index first = cut.place(i).first;
  return {row.data + first * size_of(row.dtype), tensor.row_count, tensor.col_count,
          tensor.col_count, row.dtype};
}

ParameterStore::ParameterStore(kernels::Ops& ops, const Job& job, const layout::Coordinates& at,
                               ParameterArenas arenas)
    : units_(UnitMaker(ops, job, at, arenas).make()) {}

Weight ParameterStore::weight(const TensorSpec& spec) const {
  const ParameterUnit& unit = units_[unit_of(spec)];
  for (std::size_t i = 0; i < unit.parameters.size(); ++i) {
    if (unit.parameters[i].shard.slot != spec.slot) continue;
    return {unit.matrix(unit.whole, i), unit.matrix(unit.whole_grad, i)};
  }
  contract_broken("a unit has the tensors it was made of", std::source_location::current());
}

std::size_t ParameterStore::unit_of(const TensorSpec& spec) const {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (const Parameter& p : units_[i].parameters) {
      if (p.shard.slot == spec.slot) return i;
    }
  }
  contract_broken("a stage asks for its own tensors", std::source_location::current());
}

std::vector<Parameter> ParameterStore::owned() const {
  std::vector<Parameter> all;
  for (const ParameterUnit& unit : units_) {
    std::ranges::copy_if(unit.parameters, std::back_inserter(all),
                         [](const Parameter& p) { return p.owned.count > 0; });
  }
  return all;
}

}  // namespace cpplan::engine
