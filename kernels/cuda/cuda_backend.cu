// All kernels but attention's, and what needs none: one unit, since each costs a second and more to
// compile, whatever is in it.
#include "kernels/cuda/cuda_backend.hpp"

#include "base/failure.hpp"
#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/cross_entropy.cuh"
#include "kernels/cuda/cuda_ops.hpp"
#include "kernels/cuda/dropout.cuh"
#include "kernels/cuda/elementwise.cuh"
#include "kernels/cuda/embedding.cuh"
#include "kernels/cuda/norm.cuh"
#include "kernels/cuda/optimizer.cuh"
#include "kernels/cuda/rope.cuh"
#include "kernels/normal.hpp"

namespace cpplan::kernels::cuda {
namespace {

int chosen(int device) {
  use_device(device);
  return device;
}

template <class T>
void fill_normal(const Normal& op, Index first, Index count, T* values) {
  for (Index e = 0; e < count; ++e) {
    const Index at = first + e;
    values[e] =
        static_cast<T>(static_cast<float>(normal_element(op, at / op.x.cols, at % op.x.cols)));
  }
}

}  // namespace

CudaOps::CudaOps(Trace& trace, int device)
    : Ops((chosen(device), trace)), device_(device, stream_), workspace_(workspace_bytes()) {}

std::byte* CudaOps::allocate(Bytes bytes) {
  try {
    return blocks_.emplace_back(Bytes{std::max<Index>(bytes.count, 1)}).data();
  } catch (const Failure& failure) {
    throw Failure(std::string(failure.what()) + " (an arena of " + std::to_string(bytes.count) +
                  " bytes). use more ranks or a smaller micro-batch");
  }
}

/// Memory that the stream still uses is not freed: that waits for the device.
std::span<std::byte> CudaOps::workspace(Bytes least) {
  if (workspace_.bytes() < least) workspace_ = DeviceMemory(least);
  return {workspace_.data(), static_cast<std::size_t>(workspace_.bytes().count)};
}

void CudaOps::run(const Attention& op) {
  attention(op, stream_);
}

/// In the order that gives the same bits every time.
void CudaOps::run(const AttentionBackward& op) {
  if (op.q.elements() == 0) return;
  attention_backward(op, GradientOrder::fixed, workspace(least_attention_workspace(op)), stream_);
}

void CudaOps::run(const Gemm& op) {
  if (op.c.elements() == 0) return;
  if (op.k() > 0) return products_.run(op, stream_, workspace({}));
  if (!op.accumulate) run(Fill{op.c, 0});
}

void CudaOps::run(const Normal& op) {
  with_real_type_of(op.x, [&]<class T>(T*) {
    std::vector<T> row(static_cast<std::size_t>(op.x.cols));
    for (Index i = 0; i < op.x.rows; ++i) {
      fill_normal(op, i * op.x.cols, op.x.cols, row.data());
      staging_.upload(op.x.row<T>(i), row.data(), op.x.row_range(i, 1).bytes(), stream_);
    }
  });
}

void CudaOps::run(const Upload& op) {
  staging_.upload(op.x.data, op.from, op.x.bytes(), stream_);
}

void CudaOps::run(const Download& op) {
  staging_.download(op.to, op.x.data, op.x.bytes(), stream_);
}

std::unique_ptr<Ops> make_cuda_ops(Trace& trace, int device) {
  return std::make_unique<CudaOps>(trace, device);
}

}  // namespace cpplan::kernels::cuda
