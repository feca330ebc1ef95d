#pragma once
// The parameters that a rank holds: slices of global tensors, with gradient and optimizer state.
#include <vector>

#include "engine/job.hpp"
#include "engine/model_tensors.hpp"
#include "kernels/arena.hpp"
#include "kernels/backend.hpp"
#include "layout/tensor_shard.hpp"

namespace cpplan::engine {

struct Parameter {
  layout::TensorShard shard;
  kernels::Tensor value, grad;  // [row_count, col_count]
  kernels::Tensor m, v;         // AdamW's moments, in the accumulator type
};

/// What a layer needs of a parameter.
struct Weight {
  kernels::Tensor value, grad;
};

/// Where parameters, gradients and moments live.
struct ParameterArenas {
  kernels::Arena &parameters, &gradients, &optimizer;
};

/// The slice of `spec` that TP rank `part` of `parts` holds. Row-cut tensors are padded to a
/// multiple of `parts` rows (the vocabulary); columns divide.
layout::TensorShard shard_of(const TensorSpec& spec, const layout::ParallelDims&, int part);

class ParameterStore {
 public:
  ParameterStore(kernels::Ops& ops, const Job& job, int tp_rank, ParameterArenas arenas);

  /// Makes room for this rank's slice and draws its initial value.
  Weight add(const TensorSpec&);

  std::vector<Parameter>& all() { return parameters_; }
  const std::vector<Parameter>& all() const { return parameters_; }

 private:
  void initialize(const TensorSpec&, const Parameter&);

  kernels::Ops& ops_;
  const Job& job_;
  int tp_rank_;
  ParameterArenas arenas_;
  std::vector<Parameter> parameters_;
};

}  // namespace cpplan::engine
