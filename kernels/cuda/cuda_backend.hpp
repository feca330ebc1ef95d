#pragma once
// The class behind make_cuda_ops(), for the files of this folder: each defines the run() of one
// family of ops beside its kernels, and cuda_backend.cu is the one unit that compiles them.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cuda/product.hpp"
#include "kernels/cuda/staging.hpp"
#include "kernels/cuda/stream_device.hpp"

namespace cpplan::kernels::cuda {

class CudaOps final : public Ops {
 public:
  CudaOps(Trace& trace, int device);

  std::byte* allocate(Bytes bytes) override;
  Device* device() override { return &device_; }
  const Stream& stream() const { return stream_; }

  void run(const Gemm&) override;
  void run(const RmsNorm&) override;
  void run(const RmsNormBackward&) override;
  void run(const Rope&) override;
  void run(const Attention&) override;
  void run(const AttentionBackward&) override;
  void run(const SwiGlu&) override;
  void run(const SwiGluBackward&) override;
  void run(const DropoutAdd&) override;
  void run(const DropoutBackward&) override;
  void run(const Embed&) override;
  void run(const EmbedBackward&) override;
  void run(const RowMax&) override;
  void run(const SumExp&) override;
  void run(const LossSum&) override;
  void run(const CrossEntropyBackward&) override;
  void run(const SquaredNorm&) override;
  void run(const AdamW&) override;
  void run(const Fill&) override;
  void run(const Copy&) override;
  void run(const Add&) override;
  void run(const Normal&) override;
  void run(const Upload&) override;
  void run(const Download&) override;

 private:
  /// Device memory for the length of one op: it grows to what the greatest of them needs, in the
  /// first step.
  std::span<std::byte> workspace(Bytes least);

  Stream stream_;
  StreamDevice device_;
  DeviceMemory workspace_;
  Staging staging_;
  Products products_;
  std::vector<DeviceMemory> blocks_;
};

}  // namespace cpplan::kernels::cuda
