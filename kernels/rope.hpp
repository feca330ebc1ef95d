#pragma once
// The frequencies of rotary positions that nobody stretched (arXiv 2104.09864).
#include <cmath>
#include <vector>

#include "base/units.hpp"

namespace cpplan::kernels {

/// theta^(-2j / head_dim), for j < head_dim / 2.
inline std::vector<double> rope_frequencies(Index head_dim, double theta) {
  std::vector<double> frequencies;
  for (Index j = 0; j < head_dim / 2; ++j)
    frequencies.push_back(
        std::pow(theta, -static_cast<double>(2 * j) / static_cast<double>(head_dim)));
  return frequencies;
}

}  // namespace cpplan::kernels
