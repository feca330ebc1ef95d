#pragma once
// Matrix products of the device: cuBLASLt (product.cpp), or a plain loop in the emulator of the
// tests.
#include <memory>
#include <span>

#include "kernels/cuda/runtime.hpp"
#include "kernels/ops.hpp"

namespace cpplan::kernels::cuda {

/// What products can make use of beside their operands.
Bytes workspace_bytes();

class Products {
 public:
  Products();
  ~Products();

  /// Queues the product, with sums in f32. Contract: no dimension is 0. Throws Failure.
  void run(const Gemm&, const Stream&, std::span<std::byte> workspace);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cpplan::kernels::cuda
