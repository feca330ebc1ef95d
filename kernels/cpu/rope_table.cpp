#include "kernels/cpu/rope_table.hpp"

#include <cmath>

#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

void append_turn(const std::vector<double>& frequency, Index position, std::vector<double>& table) {
  const auto at = static_cast<double>(position);
  for (const double f : frequency) table.push_back(std::cos(at * f));
  for (const double f : frequency) table.push_back(std::sin(at * f));
}

/// The product of two turns; `direction` -1 turns back.
CPPLAN_VECTORISED void combine(const double* a, const double* b, double direction, Index pairs,
                               float* cosine, float* sine) {
#pragma omp simd
  for (Index j = 0; j < pairs; ++j) {
    cosine[j] = static_cast<float>(a[j] * b[j] - a[pairs + j] * b[pairs + j]);
    sine[j] = static_cast<float>(direction * (a[pairs + j] * b[j] + a[j] * b[pairs + j]));
  }
}

}  // namespace

RopeTable::RopeTable(Index head_dim, double theta) {
  for (Index j = 0; j < head_dim / 2; ++j)
    frequency_.push_back(
        std::pow(theta, -static_cast<double>(2 * j) / static_cast<double>(head_dim)));
  for (Index b = 0; b < fine_positions; ++b) append_turn(frequency_, b, fine_);
}

void RopeTable::turn(Index position, float* cosine, float* sine) {
  const auto pairs = static_cast<Index>(frequency_.size());
  const Index distance = position < 0 ? -position : position;
  const Index a = distance / fine_positions, b = distance % fine_positions;
  for (Index row = static_cast<Index>(coarse_.size()) / (2 * pairs); row <= a; ++row)
    append_turn(frequency_, row * fine_positions, coarse_);
  combine(coarse_.data() + 2 * pairs * a, fine_.data() + 2 * pairs * b, position < 0 ? -1 : 1,
          pairs, cosine, sine);
}

}  // namespace cpplan::kernels::cpu
