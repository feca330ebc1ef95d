#include "kernels/device/fragments.hpp"

#include "kernels/cuda/primitives.cuh"

namespace cpplan::kernels::test {
namespace {

using namespace cuda;

/// a as it lies, b transposed by its load.
__global__ void multiply_tiles(const float* a, const float* b, float* d) {
  Bf16* const shared_a = dynamic_shared<Bf16>();
  Bf16* const shared_b = shared_a + tile_rows * tile_inner;
  for (int e = lane(); e < tile_rows * tile_inner; e += 32) shared_a[e] = to_bf16(a[e]);
  for (int e = lane(); e < tile_inner * tile_cols; e += 32) shared_b[e] = to_bf16(b[e]);
  sync_block();
  std::uint32_t fragment_a[4], fragment_b[4];
  load_matrices(fragment_a, shared_a + lane() % 16 * tile_inner + lane() / 16 * 8);
  load_transposed(fragment_b, shared_b + lane() % 16 * tile_cols);
  float sums[4] = {};
  multiply_add(sums, fragment_a, fragment_b[0], fragment_b[1]);
  for (int i = 0; i < 4; ++i)
    d[(lane() / 4 + i / 2 * 8) * tile_cols + lane() % 4 * 2 + i % 2] = sums[i];
}

Bytes bytes_of(std::size_t floats) {
  return {static_cast<Index>(floats * sizeof(float))};
}

DeviceMemory upload(const std::vector<float>& values, const Stream& stream) {
  DeviceMemory memory(bytes_of(values.size()));
  copy_to_device(memory.data(), values.data(), memory.bytes(), stream);
  stream.synchronize();
  return memory;
}

const float* floats(const DeviceMemory& memory) {
  return reinterpret_cast<const float*>(memory.data());
}

}  // namespace

std::vector<float> product_of_tiles(const std::vector<float>& a, const std::vector<float>& b) {
  constexpr Index shared_bytes = 2 * (tile_rows * tile_inner + tile_inner * tile_cols);
  const Stream stream;
  const DeviceMemory on_a = upload(a, stream), on_b = upload(b, stream);
  std::vector<float> result(tile_rows * tile_cols);
  const DeviceMemory d(bytes_of(result.size()));
  launch(multiply_tiles, {.shared_bytes = shared_bytes}, stream, floats(on_a), floats(on_b),
         reinterpret_cast<float*>(d.data()));
  stream.synchronize();
  copy_to_host(result.data(), d.data(), d.bytes(), stream);
  stream.synchronize();
  return result;
}

}  // namespace cpplan::kernels::test
