// Products of the emulated device: a loop with sums in f32, queued like a launch. What cuBLASLt
// does is cuBLASLt's to test; that each is asked for the right product is told by the cases of Gemm
// on a device.
#include "emulator/launch.hpp"
#include "kernels/bf16.hpp"
#include "kernels/cuda/product.hpp"

namespace cpplan::kernels::cuda {
namespace {

float element(const Tensor& t, bool transposed, Index i, Index j) {
  const Index row = transposed ? j : i, col = transposed ? i : j;
  return t.dtype == DType::bf16 ? static_cast<float>(t.row<Bf16>(row)[col])
                                : t.row<float>(row)[col];
}

float sum_of(const Gemm& op, Index i, Index j) {
  float sum = op.accumulate ? element(op.c, false, i, j) : 0;
  for (Index k = 0; k < op.k(); ++k)
    sum += element(op.a, op.transpose_a, i, k) * element(op.b, op.transpose_b, k, j);
  return sum;
}

void multiply(const Gemm& op) {
  for (Index i = 0; i < op.c.rows; ++i)
    for (Index j = 0; j < op.c.cols; ++j) {
      const float sum = sum_of(op, i, j);
      if (op.c.dtype == DType::bf16)
        op.c.row<Bf16>(i)[j] = sum;
      else
        op.c.row<float>(i)[j] = sum;
    }
}

}  // namespace

struct Products::State {};

Bytes workspace_bytes() {
  return {4096};
}

Products::Products() = default;
Products::~Products() = default;

void Products::run(const Gemm& op, const Stream& stream, std::span<std::byte>) {
  emulator::enqueue(stream, [op] { multiply(op); });
}

}  // namespace cpplan::kernels::cuda
