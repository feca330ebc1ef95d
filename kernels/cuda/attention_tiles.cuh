#pragma once
// A tile of rows of one head: how it comes to shared memory, and from there into the fragments of
// tensor cores and the two products that attention is made of. Rows behind the valid ones are zeros
// in shared memory, and never stored.
#include "kernels/cuda/attention_walk.cuh"

namespace cpplan::kernels::cuda {

/// Neighbours of a fragment, read and written at once.
struct alignas(8) FloatPair {
  float x = 0, y = 0;
};

/// A tile of rows of one head. A row ends in eight values of padding, so that eight rows lie in
/// eight groups of banks and matrix loads have no conflict; head_dim above the real one is zeros.
template <int head_dim_>
struct TileShape {
  static constexpr int head_dim = head_dim_, pitch = head_dim + 8, chunks = head_dim / 8;
  static constexpr Index bytes(int rows) { return Index{rows} * pitch * 2; }
};

/// Starts copies of rows [0, valid) of `from`, and of zeros behind them.
template <class Shape, int tile_rows, int thread_count>
__device__ void load_tile(Bf16* tile, Rows<const Bf16> from, int valid, int head_dim) {
#pragma unroll 1  // its addresses, all at once, would be what does not fit the registers
  for (int i = 0; i < (tile_rows * Shape::chunks + thread_count - 1) / thread_count; ++i) {
    const int chunk = thread() + i * thread_count;
    const int row = chunk / Shape::chunks, column = chunk % Shape::chunks * 8;
    if (tile_rows * Shape::chunks % thread_count != 0 && row >= tile_rows) break;
    const bool inside = row < valid && column < head_dim;
    copy_async(tile + row * Shape::pitch + column, inside ? from.at(row, column) : from.data,
               inside);
  }
}

/// A operand [16 rows, 16 columns] of a tile.
template <class Shape>
__device__ void load_a(std::uint32_t (&a)[4], const Bf16* tile, int row, int column) {
  load_matrices(a, tile + (row + lane() % 16) * Shape::pitch + column + lane() / 16 * 8);
}
/// B operands of two products whose n runs along sixteen rows of the tile: {b[0], b[1]} and
/// {b[2], b[3]}; k runs along sixteen columns.
template <class Shape>
__device__ void load_b_of_rows(std::uint32_t (&b)[4], const Bf16* tile, int row, int column) {
  load_matrices(
      b, tile + (row + lane() % 8 + lane() / 16 * 8) * Shape::pitch + column + lane() / 8 % 2 * 8);
}
/// The same with n along sixteen columns and k along sixteen rows.
template <class Shape>
__device__ void load_b_of_columns(std::uint32_t (&b)[4], const Bf16* tile, int row, int column) {
  load_transposed(b, tile + (row + lane() % 16) * Shape::pitch + column + lane() / 16 * 8);
}

/// c = a b^T over head_dim: 16 * row_tiles rows of tile a from first_row on against all rows of b.
template <class Shape, int row_tiles, int n_tiles>
__device__ void multiply_rows(float (&c)[row_tiles][n_tiles][4], const Bf16* a, int first_row,
                              const Bf16* b) {
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int n = 0; n < n_tiles; ++n) c[m][n][0] = c[m][n][1] = c[m][n][2] = c[m][n][3] = 0;
#pragma unroll
  for (int d = 0; d < Shape::head_dim; d += 16) {
    std::uint32_t of_a[row_tiles][4];
#pragma unroll
    for (int m = 0; m < row_tiles; ++m) load_a<Shape>(of_a[m], a, first_row + 16 * m, d);
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
      std::uint32_t of_b[4];
      load_b_of_rows<Shape>(of_b, b, 8 * n, d);
#pragma unroll
      for (int m = 0; m < row_tiles; ++m) {
        multiply_add(c[m][n], of_a[m], of_b[0], of_b[1]);
        multiply_add(c[m][n + 1], of_a[m], of_b[2], of_b[3]);
      }
    }
  }
}

/// c += w b: w, rounded to bf16, from the accumulators in which it was computed, which lie as the A
/// operand does; b the tile from first_column on.
template <class Shape, int row_tiles, int k_tiles, int n_tiles>
__device__ void add_product(float (&c)[row_tiles][n_tiles][4],
                            const float (&w)[row_tiles][k_tiles][4], const Bf16* b,
                            int first_column) {
#pragma unroll
  for (int k = 0; k < k_tiles; k += 2) {
    std::uint32_t of_w[row_tiles][4];
#pragma unroll
    for (int m = 0; m < row_tiles; ++m)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        of_w[m][i] = pack_bf16(w[m][k + i / 2][i % 2 * 2], w[m][k + i / 2][i % 2 * 2 + 1]);
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
      std::uint32_t of_b[4];
      load_b_of_columns<Shape>(of_b, b, 8 * k, first_column + 8 * n);
#pragma unroll
      for (int m = 0; m < row_tiles; ++m) {
        multiply_add(c[m][n], of_w[m], of_b[0], of_b[1]);
        multiply_add(c[m][n + 1], of_w[m], of_b[2], of_b[3]);
      }
    }
  }
}

/// Row of the warp's tile, and column, that element e of an accumulator fragment holds; its
/// neighbour e + 1 is the next column.
__device__ inline int fragment_row(int e) {
  return lane() / 4 + e / 2 * 8;
}
__device__ inline int fragment_column(int tile) {
  return 8 * tile + lane() % 4 * 2;
}

/// Whether pairs (q, k0) and (q, k1) of a head are kept: bits 0 and 1. Neighbours share the words
/// of one Philox call where their positions do.
__device__ inline std::uint32_t kept_pair(const DropoutArguments& d, int q, int k0, int k1,
                                          int head, int sample) {
  const Index global_head = d.first_head + head, global_sample = d.dropout.first_sample + sample;
  PhiloxCounter words = attention_words(d.dropout, k0, q, global_head, global_sample);
  const bool first = dropout_lane(words, k0) >= d.threshold;
  if (k1 / 8 != k0 / 8) words = attention_words(d.dropout, k1, q, global_head, global_sample);
  const bool second = dropout_lane(words, k1) >= d.threshold;
  return (first ? 1u : 0u) | (second ? 2u : 0u);
}
__device__ inline bool kept(const DropoutArguments& d, int q, int k, int head, int sample) {
  const PhiloxCounter words =
      attention_words(d.dropout, k, q, d.first_head + head, d.dropout.first_sample + sample);
  return dropout_lane(words, k) >= d.threshold;
}

}  // namespace cpplan::kernels::cuda
