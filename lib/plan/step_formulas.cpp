#include "plan/step_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"

namespace cpplan::plan {
namespace {

double times_factors(double steps, StepFactors factors) {
  return steps * static_cast<double>(factors.context) * static_cast<double>(factors.tensor);
}

}  // namespace

double floor_divide(double x, double y) {
  const double rest = std::fmod(x, y);
  double quotient = (x - rest) / y;
  if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

double plain_value(Index rows, double epochs, Index batch_size, StepFactors factors) {
  const double samples = times_factors(static_cast<double>(rows) * epochs, factors);
  return std::ceil(samples / static_cast<double>(batch_size));
}

double estimated_value(const PackingEstimate& packing, double epochs, Index batch_size,
                       StepFactors factors) {
  const double sequences = 0.99 * static_cast<double>(packing.tokens) / packing.efficiency /
                           static_cast<double>(packing.sequence_len);
  const double of_epoch = std::floor(floor_divide(sequences, static_cast<double>(batch_size))) - 1;
  return times_factors(of_epoch * epochs, factors);
}

Index data_loader_len(Index batches, Index micro_batch_size, Index batch_size) {
  const auto rows = checked_multiply(batches, micro_batch_size);
  return std::max<Index>(1, rows.value_or(std::numeric_limits<Index>::max()) / batch_size);
}

double measured_value(Index data_loader_len, double epochs, LastBatch last, StepFactors factors) {
  const double steps =
      std::floor(times_factors(static_cast<double>(data_loader_len) * epochs, factors));
  return last == LastBatch::drop ? steps - std::ceil(epochs) : steps;
}

Index steps_of_epoch(Index batches, Index data_parallel_size, Index accumulation, LastBatch last) {
  const Index of_rank = last == LastBatch::drop ? batches / data_parallel_size
                                                : whole_parts(batches, data_parallel_size);
  return std::max<Index>(1, whole_parts(of_rank, accumulation));
}

}  // namespace cpplan::plan
