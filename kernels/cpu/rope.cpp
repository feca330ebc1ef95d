#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// Every head of a row turns by the same angles; `direction` -1 turns back.
template <class T>
CPPLAN_VECTORISED void rotate_row(T* x, Index cols, Index half, float direction,
                                  const float* cosine, const float* sine) {
  for (Index head = 0; head < cols; head += 2 * half) {
    T* const low = x + head;
    T* const high = low + half;
#pragma omp simd
    for (Index j = 0; j < half; ++j) {
      const float a = low[j], b = high[j], s = direction * sine[j];
      low[j] = a * cosine[j] - b * s;
      high[j] = a * s + b * cosine[j];
    }
  }
}

}  // namespace

void CpuOps::run(const Rope& op) {
  const Index half = op.head_dim() / 2;
  RopeTable& table = rope_tables_.of(op.frequencies, op.magnitude);
  float* const cosine = scratch(op.head_dim());
  float* const sine = cosine + half;
  with_real_type_of(op.x, [&]<class T>(T*) {
    for (Index i = 0; i < op.x.rows; ++i) {
      table.turn(*op.positions.row<std::int32_t>(i), cosine, sine);
      rotate_row(op.x.row<T>(i), op.x.cols, half, op.inverse ? -1.0f : 1.0f, cosine, sine);
    }
  });
}

}  // namespace cpplan::kernels::cpu
