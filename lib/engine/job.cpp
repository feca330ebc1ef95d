#include "engine/job.hpp"

#include <algorithm>
#include <numeric>

namespace cpplan::engine {

int state_shards(const Job& job) {
  if (job.data_parallel.sharding == Sharding::none) return 1;
  return job.dims.cp * job.dims.dp / job.data_parallel.replicate;
}

int kv_copies(const model::ModelSpec& model, const layout::ParallelDims& dims) {
  const auto heads = static_cast<int>(std::min<Index>(model.num_key_value_heads, dims.tp));
  expect(heads > 0 && dims.tp % heads == 0, "TP ranks share KV heads evenly");
  return dims.tp / heads;
}

Index rows_multiple(const layout::ParallelDims& dims, layout::Split split) {
  const Index chunks = layout::SequenceMap::multiple(split, dims.cp) / dims.cp;
  return std::lcm(chunks, Index{dims.sequence_parallel ? dims.tp : 1});
}

}  // namespace cpplan::engine
