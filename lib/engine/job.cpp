#include "engine/job.hpp"

#include <numeric>

namespace cpplan::engine {

int state_shards(const Job& job) {
  if (job.data_parallel.sharding == Sharding::none) return 1;
  return job.dims.cp * job.dims.dp / job.data_parallel.replicate;
}

Index rows_multiple(const layout::ParallelDims& dims, layout::Split split) {
  const Index chunks = layout::SequenceMap::multiple(split, dims.cp) / dims.cp;
  return std::lcm(chunks, Index{dims.sequence_parallel ? dims.tp : 1});
}

}  // namespace cpplan::engine
