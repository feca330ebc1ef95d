#pragma once
// Angles of the rotary embedding. position = 512 a + b turns by the turn of 512 a and then by that
// of b: two small tables in double give every position's turn to far below an f32 ulp, where one
// table of all positions would take 64 MiB at 131072.
#include <list>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace cpplan::kernels::cpu {

class RopeTable {
 public:
  RopeTable(std::span<const double> frequencies, double magnitude);

  bool is_of(std::span<const double> frequencies, double magnitude) const;
  /// magnitude times cosine[j] and sine[j] of position * frequencies[j].
  void turn(Index position, float* cosine, float* sine);

 private:
  static constexpr Index fine_positions = 512;

  std::vector<double> frequencies_;
  double magnitude_;
  std::vector<double> fine_, coarse_;  // rows [cosines | sines]; the fine ones have the magnitude
};

/// One table for each rotation that was asked for: a model has one.
class RopeTables {
 public:
  RopeTable& of(std::span<const double> frequencies, double magnitude);

 private:
  std::list<RopeTable> tables_;
};

}  // namespace cpplan::kernels::cpu
