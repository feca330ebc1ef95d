#include "kernels/cuda/device_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/bf16.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Index gap = 8;
constexpr double sentinel = 12352;

void write(double value, DType dtype, std::byte* to) {
  const auto full = static_cast<float>(value);
  const Bf16 half(full);
  if (dtype == DType::bf16)
    std::memcpy(to, &half, sizeof half);
  else
    std::memcpy(to, &full, sizeof full);
}

double read_value(DType dtype, const std::byte* from) {
  float full;
  Bf16 half;
  std::memcpy(&half, from, sizeof half);
  if (dtype == DType::bf16) return half;
  std::memcpy(&full, from, sizeof full);
  return full;
}

}  // namespace

DeviceMatrix::DeviceMatrix(const Matrix& values, DType dtype) {
  const Index stride = round_up(values.cols, 8) + gap, size = size_of(dtype);
  memory_ = cuda::DeviceMemory({std::max<Index>(values.rows, 1) * stride * size});
  tensor_ = {memory_.data(), values.rows, values.cols, stride, dtype};
  std::vector<std::byte> host(static_cast<std::size_t>(memory_.bytes().count));
  for (Index i = 0; i < values.rows; ++i)
    for (Index j = 0; j < stride; ++j)
      write(j < values.cols ? values(i, j) : sentinel, dtype,
            host.data() + (i * stride + j) * size);
  const cuda::Stream stream;
  cuda::copy_to_device(memory_.data(), host.data(), memory_.bytes(), stream);
  stream.synchronize();
}

Matrix DeviceMatrix::read() const {
  const cuda::Stream stream;
  std::vector<std::byte> host(static_cast<std::size_t>(memory_.bytes().count));
  cuda::copy_to_host(host.data(), memory_.data(), memory_.bytes(), stream);
  Matrix m = filled(tensor_.rows, tensor_.cols, 0);
  for (Index i = 0; i < tensor_.rows; ++i)
    for (Index j = 0; j < tensor_.stride; ++j) {
      const double value = read_value(
          tensor_.dtype, host.data() + (i * tensor_.stride + j) * size_of(tensor_.dtype));
      if (j < m.cols)
        m(i, j) = value;
      else
        expect(value == sentinel, "the op wrote between the rows of a tensor");
    }
  return m;
}

}  // namespace cpplan::kernels::test
