// What all kernels on tensor cores stand on, before any of them: the layout of fragments on
// hardware is the one of the manual, which the emulator applies.
#include <doctest/doctest.h>

#include "kernels/device/fragments.hpp"

namespace cpplan::kernels::test {

TEST_CASE("device: fragments of a tensor core lie as documented") {
  std::vector<float> a(tile_rows * tile_inner), b(tile_inner * tile_cols);
  for (std::size_t e = 0; e < a.size(); ++e) a[e] = static_cast<float>(e * 7 % 23) - 11;
  for (std::size_t e = 0; e < b.size(); ++e) b[e] = static_cast<float>(e * 5 % 19) - 9;
  std::vector<float> expected(tile_rows * tile_cols, 0.0f);  // small whole numbers: sums are exact
  for (int i = 0; i < tile_rows; ++i)
    for (int k = 0; k < tile_inner; ++k)
      for (int j = 0; j < tile_cols; ++j)
        expected[i * tile_cols + j] += a[i * tile_inner + k] * b[k * tile_cols + j];
  CHECK(product_of_tiles(a, b) == expected);
}

}  // namespace cpplan::kernels::test
