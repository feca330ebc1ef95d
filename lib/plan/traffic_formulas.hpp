#pragma once
// What a rank of our engine sends in a step by closed formula: a second opinion beside the meta
// run. After the field's ring algorithms, bytes sent by one of n ranks: all-gather and
// reduce-scatter of X bytes (n-1)/n X, all-reduce 2(n-1)/n X, all-to-all (n-1)/n X.
#include <string>
#include <vector>

#include "engine/job.hpp"

namespace cpplan::plan {

struct TrafficFormula {
  std::string group, collective;
  double bytes = 0;
  std::string text;  // the formula with the numbers put in
};

/// Of a rank of pipeline stage `stage`, by group and collective; groups of one send nothing and are
/// left out. Exact but for all-reduces of elements that do not divide over their ranks.
std::vector<TrafficFormula> traffic_formulas(const engine::Job& job, int stage);

}  // namespace cpplan::plan
