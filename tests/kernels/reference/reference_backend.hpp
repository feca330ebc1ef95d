#pragma once
// The class behind make_reference_ops(), and the words its short files are written in.
#include <memory>
#include <vector>

#include "kernels/backend.hpp"

namespace cpplan::kernels::reference {

class ReferenceOps final : public Ops {
 public:
  using Ops::Ops;

  std::byte* allocate(Bytes bytes) override;

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
  struct Free {
    void operator()(std::byte* block) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
};

/// Element [i, j] of a matrix of doubles.
inline double& at(const Tensor& t, Index i, Index j) {
  expect(t.dtype == DType::f64, "the reference computes in f64");
  return t.row<double>(i)[j];
}

inline Index index_at(const Tensor& t, Index i, Index j = 0) {
  expect(t.dtype == DType::i32, "indices are i32");
  return t.row<std::int32_t>(i)[j];
}

}  // namespace cpplan::kernels::reference
