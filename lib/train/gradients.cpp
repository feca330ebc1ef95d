#include "train/gradients.hpp"

#include <cmath>

namespace cpplan::train {
namespace {

double element(const kernels::Tensor& row, Index i) {
  return row.dtype == kernels::DType::f64 ? row.row<double>(0)[i]
                                          : static_cast<double>(row.row<float>(0)[i]);
}

void add(const engine::Parameter& parameter, double scale, std::vector<double>& whole) {
  const layout::TensorShard& shard = parameter.shard;
  whole.resize(static_cast<std::size_t>(shard.rows * shard.cols));
  for (Index i = 0; i < parameter.owned.count; ++i) {
    const Index number = parameter.owned.first + i;
    const Index row = number / shard.col_count, col = number % shard.col_count;
    if (row >= shard.valid_rows()) return;  // what follows is padding of the vocabulary
    whole[static_cast<std::size_t>(shard.element(row, col))] += scale * element(parameter.grad, i);
  }
}

}  // namespace

void add_gradients(const engine::Trainer& trainer, double scale, WholeTensors& whole) {
  for (const engine::Parameter& parameter : trainer.parameters())
    if (parameter.first_replica) add(parameter, scale, whole[parameter.shard.name]);
}

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace cpplan::train
