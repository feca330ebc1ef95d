#include <algorithm>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// The row of this rank's shard that holds token i, or nullptr where it is another rank's.
template <class T>
T* row_of_token(const Tensor& tokens, Index i, const Tensor& weight, Index first_row) {
  const Index row = *tokens.row<std::int32_t>(i) - first_row;
  return row >= 0 && row < weight.rows ? weight.row<T>(row) : nullptr;
}

template <class T>
CPPLAN_VECTORISED void add_row(const T* dy, Index h, float* row) {
#pragma omp simd
  for (Index j = 0; j < h; ++j) row[j] += dy[j];
}

}  // namespace

void CpuOps::run(const Embed& op) {
  with_real_type_of(op.y, [&]<class T>(T*) {
    for (Index i = 0; i < op.y.rows; ++i) {
      if (const T* const row = row_of_token<T>(op.tokens, i, op.weight, op.first_row))
        std::copy_n(row, op.y.cols, op.y.row<T>(i));
      else
        std::fill_n(op.y.row<T>(i), op.y.cols, T(0.0f));
    }
  });
}

void CpuOps::run(const EmbedBackward& op) {
  with_real_type_of(op.dy, [&]<class T>(T*) {
    for (Index i = 0; i < op.dy.rows; ++i) {
      float* const row = row_of_token<float>(op.tokens, i, op.dweight, op.first_row);
      if (row) add_row<T>(op.dy.row<T>(i), op.dy.cols, row);
    }
  });
}

}  // namespace cpplan::kernels::cpu
