#pragma once
// Whole parameters for layers whose ranks update shards of them: gathered before a layer computes,
// and given up when the next unit of the lane comes where ranks keep no more than shards. Nothing
// to do where every rank has all of them after the optimizer.
#include <vector>

#include "comm/communicator.hpp"
#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

class ParameterGathering {
 public:
  ParameterGathering(const Groups&, const Job&, const ParameterStore&);

  /// Sets `unit` on its way, if it isn't there. Contract: what its lane held is no longer needed.
  void prefetch(std::size_t unit);
  /// Returns when layers can compute with `unit`.
  void require(std::size_t unit);
  /// After the optimizer: what was gathered is out of date.
  void forget();

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  /// What the buffer of a lane holds, or is about to.
  struct Buffer {
    std::size_t unit = none;
    comm::Work arrival;
  };
  Buffer& buffer_of(std::size_t unit);

  const Groups& groups_;
  const ParameterStore& store_;
  bool gathers_, in_lanes_;
  std::vector<Buffer> buffers_;  // one a lane, or one a unit
};

}  // namespace cpplan::engine
