#pragma once
// Tensor-core primitives by themselves, on a device.
#include <vector>

namespace cpplan::kernels::test {

/// Rows of a, columns of b, and what is summed over.
inline constexpr int tile_rows = 16, tile_inner = 16, tile_cols = 8;

/// a [16, 16] b [16, 8] by one warp: shared memory, matrix loads, a product, and each element of
/// the result where its fragment is documented to have it.
std::vector<float> product_of_tiles(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace cpplan::kernels::test
