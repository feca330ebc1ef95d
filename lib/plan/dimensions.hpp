#pragma once
// What each parallel dimension splits, copies and sends: closed formulas, a second opinion beside
// the meta run of the engine.
#include "engine/job.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// What the formulas take. Of one rank of the first pipeline stage.
struct StepShape {
  model::ModelSpec model;
  layout::ParallelDims dims;
  Index stage_layers = 0;
  Index rows = 0;           // of one context-parallel rank and micro-batch, padding included
  Index micro_batches = 0;  // of a step
  Index element_bytes = 4;  // of activations and parameters
  Index sum_bytes = 4;      // of gradients of parameters, and of travelling keys and values
  engine::DataParallelSettings data_parallel = {};
};

/// Bytes that the rank sends in a step, after the field's ring algorithms: all-reduce of X bytes
/// over n ranks 2(n-1)/n X, all-gather and reduce-scatter (n-1)/n X. The leading terms: per-row
/// statistics of the loss and norm gradients are left out.
Bytes tensor_parallel_bytes(const StepShape&);
Bytes context_parallel_bytes(const StepShape&);
Bytes pipeline_bytes(const StepShape&);
/// Gradients over DP x CP, and parameters where state is sharded: once a step for the optimizer's;
/// for parameters FSDP's two gathers and one scatter of each micro-batch, of which the engine saves
/// the gathers of layers that are still there.
Bytes data_parallel_bytes(const StepShape&);

/// Rows tp, cp, pp, dp; bytes where the plan has a model that its degrees divide.
std::vector<DimensionRow> dimension_table(const Plan&);

}  // namespace cpplan::plan
