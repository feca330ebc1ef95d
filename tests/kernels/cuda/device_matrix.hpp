#pragma once
// A matrix in memory of the device, in rows that start at multiples of sixteen bytes and have a gap
// of sentinels between them.
#include "kernels/cuda/runtime.hpp"
#include "kernels/support/matrix.hpp"
#include "kernels/tensor.hpp"

namespace cpplan::kernels::test {

class DeviceMatrix {
 public:
  DeviceMatrix(const Matrix& values, DType dtype);

  const Tensor& tensor() const { return tensor_; }
  /// Contract: nobody has written into the gaps.
  Matrix read() const;

 private:
  cuda::DeviceMemory memory_;
  Tensor tensor_;
};

}  // namespace cpplan::kernels::test
