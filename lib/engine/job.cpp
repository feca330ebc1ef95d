#include "engine/job.hpp"

#include <numeric>

namespace cpplan::engine {

Index rows_multiple(const layout::ParallelDims& dims) {
  return std::lcm(Index{2}, Index{dims.sequence_parallel ? dims.tp : 1});
}

}  // namespace cpplan::engine
