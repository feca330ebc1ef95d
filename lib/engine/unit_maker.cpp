#include "engine/unit_maker.hpp"

#include <algorithm>

#include "layout/parameter_groups.hpp"

namespace cpplan::engine {
using kernels::Tensor;
using layout::Dim;

UnitMaker::UnitMaker(kernels::Ops& ops, const Job& job, const layout::Coordinates& at,
                     const ParameterArenas& arenas)
    : ops_(ops), job_(job), at_(at), owned_(owned_shard()), arenas_(arenas) {}

std::vector<ParameterUnit> UnitMaker::make() {
  const auto specs = units_of(job_, at_[Dim::pp]);
  std::vector<ParameterUnit> units;
  for (const UnitSpec& spec : specs) units.push_back({.lane = spec.lane, .cut = cut_of(spec)});
  const bool sharded = job_.data_parallel.sharding == Sharding::parameters;
  if (sharded) make_lanes(units);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    sharded ? make_sharded_room(units[i]) : make_room(units[i]);
    add_parameters(specs[i], units[i]);
    initialize(specs[i], units[i]);
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

void UnitMaker::make_lanes(const std::vector<ParameterUnit>& units) {
  std::array<Index, lane_count> elements{};
  for (const ParameterUnit& unit : units) {
    Index& most = elements[static_cast<std::size_t>(unit.lane)];
    most = std::max(most, unit.cut.elements());
  }
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (elements[lane] == 0) continue;
    if (job_.data_parallel.reshard_after_forward) {
      lanes_[lane].values = arenas_.gathered.make(job_.dtype, 1, elements[lane]);
    }
    lanes_[lane].gradients = arenas_.gathered.make(sums(), 1, elements[lane]);
  }
}

void UnitMaker::make_sharded_room(ParameterUnit& unit) {
  const Index shards = owned_.shards, size = unit.cut.shard_size();
  const LaneBuffer& lane = lanes_[static_cast<std::size_t>(unit.lane)];
  const auto in = [&](const Tensor& buffer) {
    return Tensor{buffer.data, shards, size, size, buffer.dtype};
  };
  unit.whole = job_.data_parallel.reshard_after_forward
                   ? in(lane.values)
                   : arenas_.gathered.make(job_.dtype, shards, size);
  unit.whole_grad = in(lane.gradients);
  unit.shard = arenas_.parameters.make(job_.dtype, 1, size);
  unit.shard_grad = arenas_.gradients.make(sums(), 1, size);
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
    const layout::TensorShard tensor = shard(spec.tensors[i]);
    unit.parameters.push_back({.shard = tensor,
                               .owned = owned,
                               .first_replica = owned_.first_replica && tensor.copy == 0,
                               .value = part(unit.shard),
                               .master = part(master),
                               .grad = part(unit.shard_grad),
                               .m = part(m),
                               .v = part(v)});
  }
  for (const Tensor& zero : {unit.shard_grad, m, v}) ops_(kernels::Fill{zero, 0.0});
}

void UnitMaker::initialize(const UnitSpec& spec, const ParameterUnit& unit) {
  ops_(kernels::Fill{unit.whole, 0.0});
  for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
    draw(spec.tensors[i], unit.parameters[i].shard, unit.matrix(unit.whole, i));
  }
  const Tensor own = unit.whole.row_range(owned_.index, 1);
  if (own.data != unit.shard.data) ops_(kernels::Copy{own, unit.shard});
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
