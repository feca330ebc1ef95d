#pragma once
// Angles of the rotary embedding. position = 512 a + b turns by the turn of 512 a and then by that
// of b: two small tables in double give every position's turn to far below an f32 ulp, where one
// table of all positions would take 64 MiB at 131072.
#include <map>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace cpplan::kernels::cpu {

class RopeTable {
 public:
  RopeTable(Index head_dim, double theta);

  /// cosine[j], sine[j] of position * theta^(-2j / head_dim), for j < head_dim / 2.
  void turn(Index position, float* cosine, float* sine);

 private:
  static constexpr Index fine_positions = 512;

  std::vector<double> frequency_;
  std::vector<double> fine_, coarse_;  // rows [cosines | sines]
};

/// One table for each (head_dim, theta) that was asked for.
class RopeTables {
 public:
  RopeTable& of(Index head_dim, double theta) {
    return tables_.try_emplace({head_dim, theta}, head_dim, theta).first->second;
  }

 private:
  std::map<std::pair<Index, double>, RopeTable> tables_;
};

}  // namespace cpplan::kernels::cpu
