#pragma once
// What one run of the engine is, apart from its data: a plain value, the same on every rank.
#include <vector>

#include "kernels/tensor.hpp"
#include "layout/ranks.hpp"
#include "layout/sequence_map.hpp"
#include "model/model_spec.hpp"

namespace cpplan::engine {

struct AdamWSettings {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  double max_grad_norm = 0;  // 0: no clipping
};

struct Job {
  model::ModelSpec model;
  layout::ParallelDims dims;
  layout::Order order = layout::megatron_order;
  std::vector<int> stage_layers;  // transformer layers of each pipeline stage; sums to the model's
  kernels::DType dtype = kernels::DType::f32;
  std::uint64_t seed = 0;
  int micro_batches = 1;     // of one step and one data-parallel rank: gradient accumulation
  int micro_batch_size = 1;  // samples of a micro-batch
  Index capacity = 0;        // rows of one CP rank and micro-batch, padding included
  AdamWSettings adamw;
};

/// Rows of a rank must divide by this, so that halves and sequence shards come out whole.
Index rows_multiple(const layout::ParallelDims&);

}  // namespace cpplan::engine
