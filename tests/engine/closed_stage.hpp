#pragma once
// What the parts of the closed formulas share.
#include "engine/experiment.hpp"

namespace cpplan::test {

/// The part of the model on one stage, and what it is counted in.
struct ClosedStage {
  const engine::Job& job;
  int number = 0;
  Index tp = job.dims.tp, cp = job.dims.cp, dp = job.dims.dp;
  Index element = kernels::size_of(job.dtype);
  Index sum = kernels::size_of(kernels::accumulator(job.dtype));
  Index travels =  // gradients of keys and of exchanged heads, between ranks
      job.context_parallel.gradients == engine::GradientTransport::values ? element : sum;
  Index rows = job.capacity, micro_batches = job.micro_batches;
  Index forwards = job.recompute == engine::Recompute::full ? 2 : 1;  // of a layer
  std::vector<Index> layers{};                                        // their numbers
  Index chunks = 0;
  bool first = false, last = false;

  engine::Sharding sharding = job.data_parallel.sharding;
  bool sharded = sharding != engine::Sharding::none;
  Index copies = job.data_parallel.replicate, shards = sharded ? cp * dp / copies : 1;
};

ClosedStage stage_of(const engine::Job&, int number);

/// Virtual stage of a chunk, and its layers.
std::vector<Index> layers_of(const engine::Job&, int virtual_stage);

/// Volumes that grow.
class Sum {
 public:
  void add(const char* group, const char* collective, Index bytes) {
    if (bytes > 0) volumes[{group, collective}] += bytes;
  }
  Volumes volumes;
};

/// Gradients that are reduced and parameters that are gathered over DP x CP.
void add_parameters(const ClosedStage&, Sum&);

}  // namespace cpplan::test
