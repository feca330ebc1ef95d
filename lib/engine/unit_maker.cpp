#include "engine/unit_maker.hpp"

#include "layout/parameter_groups.hpp"

namespace cpplan::engine {
using kernels::Tensor;
using layout::Dim;

UnitMaker::UnitMaker(kernels::Ops& ops, const Job& job, const layout::Coordinates& at,
                     const ParameterArenas& arenas)
    : ops_(ops), job_(job), at_(at), owned_(owned_shard()), arenas_(arenas) {}

std::vector<ParameterUnit> UnitMaker::make() {
  std::vector<ParameterUnit> units;
  for (const UnitSpec& spec : units_of(job_, at_[Dim::pp])) {
    ParameterUnit& unit = units.emplace_back(ParameterUnit{.lane = spec.lane, .cut = cut_of(spec)});
    make_room(unit);
    add_parameters(spec, unit);
    initialize(spec, unit);
  }
  return units;
}

UnitMaker::OwnedShard UnitMaker::owned_shard() const {
  const auto& settings = job_.data_parallel;
  if (settings.sharding == Sharding::none) {
    return {.first_replica = at_[Dim::dp] == 0 && at_[Dim::cp] == 0};
  }
  const layout::Ranks ranks(job_.dims, job_.order);
  const int rank = ranks.rank(at_);
  const auto group = layout::shard_group(ranks, rank, settings.replicate);
  const auto copies = layout::replicate_group(ranks, rank, settings.replicate);
  return {group.size(), group.index_of(rank), copies.index_of(rank) == 0};
}

layout::FlatCut UnitMaker::cut_of(const UnitSpec& spec) const {
  std::vector<Index> sizes;
  for (const TensorSpec& tensor : spec.tensors) sizes.push_back(shard(tensor).elements());
  return {sizes, owned_.shards};
}

void UnitMaker::make_room(ParameterUnit& unit) {
  const Index shards = owned_.shards, size = unit.cut.shard_size();
  unit.whole = arenas_.parameters.make(job_.dtype, shards, size);
  unit.whole_grad = arenas_.gradients.make(sums(), shards, size);
  unit.shard = unit.whole.row_range(owned_.index, 1);
  unit.shard_grad = unit.whole_grad.row_range(owned_.index, 1);
}

void UnitMaker::add_parameters(const UnitSpec& spec, ParameterUnit& unit) {
  const Index size = unit.cut.shard_size();
  const bool rounded = job_.dtype != sums();
  const Tensor master = rounded ? arenas_.optimizer.make(sums(), 1, size) : unit.shard;
  const Tensor m = arenas_.optimizer.make(sums(), 1, size);
  const Tensor v = arenas_.optimizer.make(sums(), 1, size);
  for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
    const layout::ElementRange owned = unit.cut.owned(i, owned_.index);
    const Index first = unit.cut.offset(i, owned_.index);
    const auto part = [&](const Tensor& row) { return row.col_range(first, owned.count); };
    unit.parameters.push_back({.shard = shard(spec.tensors[i]),
                               .owned = owned,
                               .first_replica = is_first_replica(spec.tensors[i]),
                               .value = part(unit.shard),
                               .master = part(master),
                               .grad = part(unit.shard_grad),
                               .m = part(m),
                               .v = part(v)});
  }
  for (const Tensor& zero : {unit.shard_grad, m, v}) ops_(kernels::Fill{zero, 0.0});
}

bool UnitMaker::is_first_replica(const TensorSpec& tensor) const {
  return owned_.first_replica && (shard(tensor).parts > 1 || at_[Dim::tp] == 0);
}

void UnitMaker::initialize(const UnitSpec& spec, const ParameterUnit& unit) {
  ops_(kernels::Fill{unit.whole, 0.0});
  for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
    draw(spec.tensors[i], unit.parameters[i].shard, unit.matrix(unit.whole, i));
  }
  for (const Parameter& p : unit.parameters) {
    if (p.master.data != p.value.data) ops_(kernels::Copy{p.value, p.master});
  }
}

void UnitMaker::draw(const TensorSpec& spec, const layout::TensorShard& shard,
                     const Tensor& value) {
  if (spec.initial == Initial::ones) return ops_(kernels::Fill{value, 1.0});
  ops_(kernels::Normal{.x = value,
                       .key = random_key(job_.seed, "init/" + spec.name),
                       .first_row = shard.first_row,
                       .first_col = shard.first_col,
                       .global_cols = shard.cols,
                       .valid_rows = shard.rows,
                       .deviation = job_.model.initializer_range});
}

}  // namespace cpplan::engine
