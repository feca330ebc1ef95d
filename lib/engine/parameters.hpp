#pragma once
// The parameters that a rank holds: slices of global tensors, with gradient and optimizer state.
// Those of a unit lie side by side in one row of elements, so that a unit is one transfer; the row
// is cut over data-parallel ranks where the job shards it.
#include <span>
#include <vector>

#include "engine/parameter_units.hpp"
#include "kernels/arena.hpp"
#include "kernels/backend.hpp"
#include "layout/flat_cut.hpp"
#include "layout/tensor_shard.hpp"

namespace cpplan::engine {

/// What this rank updates of its TP slice of a tensor. Tensors are [1, owned.count].
struct Parameter {
  layout::TensorShard shard;
  layout::ElementRange owned;  // of the shard's elements, row by row; all where nothing is sharded
  bool first_replica = true;   // no rank before this one owns the same elements
  kernels::Tensor value;       // in the type of the job
  kernels::Tensor master;      // the same in the accumulator type; `value` where that is its type
  kernels::Tensor grad;        // in the accumulator type
  kernels::Tensor m, v;        // AdamW's moments, in the accumulator type
};

/// Tensors that are gathered and reduced together. `whole` is what layers compute with, `shard` the
/// row of it that this rank updates.
struct ParameterUnit {
  Lane lane = Lane::vocabulary;
  layout::FlatCut cut;
  kernels::Tensor whole, whole_grad;  // [shards, shard size]
  kernels::Tensor shard, shard_grad;  // [1, shard size]
  std::vector<Parameter> parameters;

  /// Tensor `i` of the unit in `row`, one of the whole ones: [row_count, col_count].
  kernels::Tensor matrix(const kernels::Tensor& row, std::size_t i) const;
};

/// What a layer needs of a parameter: [row_count, col_count] of the TP slice. The gradient is in
/// the accumulator type.
struct Weight {
  kernels::Tensor value, grad;
};

/// Where parameters, gradients and moments live, and whole units where shards of them do.
struct ParameterArenas {
  kernels::Arena &parameters, &gradients, &optimizer, &gathered;
};

/// The slice of `spec` that TP rank `tp_rank` of pipeline stage `stage` holds. Row-cut tensors are
/// padded to a multiple of the parts' number of rows (the vocabulary); columns divide.
layout::TensorShard shard_of(const TensorSpec& spec, const layout::ParallelDims&, int tp_rank,
                             int stage = 0);

class ParameterStore {
 public:
  /// Makes room for the parameters of the rank at `at` and draws their initial values.
  ParameterStore(kernels::Ops& ops, const Job& job, const layout::Coordinates& at,
                 ParameterArenas arenas);

  Weight weight(const TensorSpec&) const;
  /// Number of the unit that `spec` is in.
  std::size_t unit_of(const TensorSpec&) const;
  std::span<const ParameterUnit> units() const { return units_; }
  /// Of all units, those of which this rank owns nothing left out.
  std::vector<Parameter> owned() const;

 private:
  std::vector<ParameterUnit> units_;
};

}  // namespace cpplan::engine
