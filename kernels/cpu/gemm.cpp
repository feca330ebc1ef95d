#include "kernels/cpu/gemm.hpp"

#include <oneapi/dnnl/dnnl.h>

#include <string>

#include "base/failure.hpp"
#include "kernels/cpu/cpu_backend.hpp"

// Of libgomp, which oneDNN links.
extern "C" void omp_set_num_threads(int);

namespace cpplan::kernels::cpu {
namespace {

/// The number of threads is a setting of each thread that calls, and changes the order of sums.
void compute_on_this_thread_alone() {
  thread_local const bool done = (omp_set_num_threads(1), true);
  static_cast<void>(done);
}

char letter(Transpose t) {
  return t == Transpose::yes ? 'T' : 'N';
}

void scale_rows(float beta, float* c, Index rows, Index cols, Index stride) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) c[i * stride + j] = beta == 0 ? 0 : beta * c[i * stride + j];
}

}  // namespace

void multiply(ProductShape shape, float alpha, Operand a, Operand b, float beta, float* c,
              Index c_stride) {
  const auto [m, n, k] = shape;
  if (m == 0 || n == 0) return;
  if (k == 0) return scale_rows(beta, c, m, n, c_stride);
  compute_on_this_thread_alone();
  const dnnl_status_t status = dnnl_sgemm(letter(a.transpose), letter(b.transpose), m, n, k, alpha,
                                          a.data, a.stride, b.data, b.stride, beta, c, c_stride);
  if (status != dnnl_success)
    throw Failure("a matrix product failed (oneDNN status " + std::to_string(status) + ")");
}

Operand as_f32(const Tensor& t, float* room) {
  if (t.dtype == DType::f32) return {t.as<float>(), t.stride};
  expect(t.dtype == DType::bf16, "the cpu backend computes on f32 and bf16");
  widen(t, room);
  return {room, t.cols};
}

void CpuOps::run(const Gemm& op) {
  if (op.a.dtype == DType::bf16) return multiply_bf16(op, scratch(bf16_room));
  expect_f32(op.a, op.b, op.c);
  const auto operand = [](const Tensor& t, bool transposed) {
    return Operand{t.as<float>(), t.stride, transposed ? Transpose::yes : Transpose::no};
  };
  multiply({op.c.rows, op.c.cols, op.k()}, 1.0f, operand(op.a, op.transpose_a),
           operand(op.b, op.transpose_b), op.accumulate ? 1.0f : 0.0f, op.c.as<float>(),
           op.c.stride);
}

}  // namespace cpplan::kernels::cpu
