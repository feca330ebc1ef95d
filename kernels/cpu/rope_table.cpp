#include "kernels/cpu/rope_table.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

void append_turn(std::span<const double> frequencies, double magnitude, Index position,
                 std::vector<double>& table) {
  const auto at = static_cast<double>(position);
  for (const double f : frequencies) table.push_back(magnitude * std::cos(at * f));
  for (const double f : frequencies) table.push_back(magnitude * std::sin(at * f));
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

RopeTable::RopeTable(std::span<const double> frequencies, double magnitude)
    : frequencies_(frequencies.begin(), frequencies.end()), magnitude_(magnitude) {
  for (Index b = 0; b < fine_positions; ++b) append_turn(frequencies_, magnitude, b, fine_);
}

bool RopeTable::is_of(std::span<const double> frequencies, double magnitude) const {
  return magnitude == magnitude_ && std::ranges::equal(frequencies, frequencies_);
}

void RopeTable::turn(Index position, float* cosine, float* sine) {
  const auto pairs = std::ssize(frequencies_);
  const Index distance = position < 0 ? -position : position;
  const Index a = distance / fine_positions, b = distance % fine_positions;
  for (Index row = static_cast<Index>(coarse_.size()) / (2 * pairs); row <= a; ++row)
    append_turn(frequencies_, 1, row * fine_positions, coarse_);
  combine(coarse_.data() + 2 * pairs * a, fine_.data() + 2 * pairs * b, position < 0 ? -1 : 1,
          pairs, cosine, sine);
}

RopeTable& RopeTables::of(std::span<const double> frequencies, double magnitude) {
  for (RopeTable& table : tables_)
    if (table.is_of(frequencies, magnitude)) return table;
  return tables_.emplace_back(frequencies, magnitude);
}

}  // namespace cpplan::kernels::cpu
