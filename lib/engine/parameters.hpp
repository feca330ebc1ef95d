#pragma once
// The parameters that a rank holds: slices of global tensors, with gradient and optimizer state.
#include <string_view>
#include <vector>

#include "kernels/arena.hpp"
#include "layout/tensor_shard.hpp"

namespace cpplan::engine {

struct Parameter {
  layout::TensorShard shard;
  kernels::Tensor value, grad;  // [row_count, col_count]
  kernels::Tensor m, v;         // AdamW's moments
};

}  // namespace cpplan::engine
