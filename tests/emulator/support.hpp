#pragma once
// Values on the emulated device, for its own tests.
#include <cstring>
#include <type_traits>
#include <vector>

#include "emulated_primitives.hpp"

namespace cpplan::emulator::test {

inline std::vector<float> download(const kernels::cuda::DeviceMemory& memory, Index count) {
  const kernels::cuda::Stream stream;
  std::vector<float> host(static_cast<std::size_t>(count));
  kernels::cuda::copy_to_host(host.data(), memory.data(), {4 * count}, stream);
  return host;
}

/// Floats on the host and, the same, on the device.
struct Values {
  std::vector<float> host;
  kernels::cuda::DeviceMemory device;

  explicit Values(std::vector<float> values)
      : host(std::move(values)), device({4 * std::ssize(host)}) {
    const kernels::cuda::Stream stream;
    kernels::cuda::copy_to_device(device.data(), host.data(), device.bytes(), stream);
    stream.synchronize();
  }
  static Values counting(Index count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Values(std::move(values));
  }
  const float* pointer() const { return reinterpret_cast<const float*>(device.data()); }
};

/// Runs kernel(inputs..., out) and hands back a float for each thread of a block.
template <class Kernel, class... Input>
std::vector<float> results(Kernel kernel, const kernels::cuda::LaunchShape& shape,
                           const Input&... inputs) {
  const kernels::cuda::DeviceMemory out({4 * static_cast<Index>(shape.threads)});
  const kernels::cuda::Stream stream;
  kernels::cuda::launch(kernel, shape, stream, inputs.pointer()...,
                        reinterpret_cast<float*>(out.data()));
  stream.synchronize();
  return download(out, shape.threads);
}

}  // namespace cpplan::emulator::test
