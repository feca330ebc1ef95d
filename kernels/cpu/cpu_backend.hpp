#pragma once
// The class behind make_cpu_ops(), for the files of this folder: each defines the run() of one
// family of ops.
#include <functional>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cpu/memory_block.hpp"
#include "kernels/cpu/rope_table.hpp"

namespace cpplan::kernels::cpu {

class CpuOps final : public Ops {
 public:
  using Ops::Ops;

  std::byte* allocate(Bytes bytes) override;
  void set_progress(std::function<void()> hook) { progress_ = std::move(hook); }

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
  /// `count` floats that live until the next call.
  float* scratch(Index count);

  std::vector<MemoryBlock> blocks_;
  std::vector<float> scratch_;
  RopeTables rope_tables_;
  std::function<void()> progress_;
};

template <class... T>
void expect_f32(const T&... tensors) {
  expect(((tensors.dtype == DType::f32) && ...), "the cpu backend takes f32 here");
}

}  // namespace cpplan::kernels::cpu
