#pragma once
// How the units of a rank get their memory and their initial values.
#include <array>
#include <vector>

#include "engine/parameters.hpp"

namespace cpplan::engine {

class UnitMaker {
 public:
  UnitMaker(kernels::Ops&, const Job&, const layout::Coordinates& at, const ParameterArenas&);

  std::vector<ParameterUnit> make();

 private:
  /// Which of how many shards of every unit this rank owns.
  struct OwnedShard {
    int shards = 1, index = 0;
    bool first_replica = true;
  };
  OwnedShard owned_shard() const;

  layout::TensorShard shard(const TensorSpec& tensor) const {
    return shard_of(tensor, job_.dims, at_[layout::Dim::tp], at_[layout::Dim::pp]);
  }
  layout::FlatCut cut_of(const UnitSpec&) const;
  void make_lanes(const std::vector<ParameterUnit>&);
  void make_room(ParameterUnit&);
  void make_sharded_room(ParameterUnit&);
  void add_parameters(const UnitSpec&, ParameterUnit&);
  void initialize(const UnitSpec&, const ParameterUnit&);
  void draw(const TensorSpec&, const layout::TensorShard&, const kernels::Tensor& value);
  kernels::DType sums() const { return kernels::accumulator(job_.dtype); }

  kernels::Ops& ops_;
  const Job& job_;
  layout::Coordinates at_;
  OwnedShard owned_;
  ParameterArenas arenas_;
  /// What units of a lane take turns in, where ranks keep shards.
  struct LaneBuffer {
    kernels::Tensor values, gradients;  // [1, elements of the largest unit]
  };
  std::array<LaneBuffer, lane_count> lanes_;
};

}  // namespace cpplan::engine
