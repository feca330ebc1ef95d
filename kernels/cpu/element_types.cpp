#include "kernels/cpu/element_types.hpp"

#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

template <class From, class To>
CPPLAN_VECTORISED void convert_row(const From* from, Index n, To* to) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) to[j] = from[j];
}

}  // namespace

void widen(const Tensor& from, float* to) {
  for (Index i = 0; i < from.rows; ++i)
    convert_row(from.row<Bf16>(i), from.cols, to + i * from.cols);
}

void narrow(const float* from, const Tensor& to) {
  for (Index i = 0; i < to.rows; ++i) convert_row(from + i * to.cols, to.cols, to.row<Bf16>(i));
}

}  // namespace cpplan::kernels::cpu
