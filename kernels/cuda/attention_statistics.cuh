#pragma once
// What the backward pass needs of a row before it starts.
#include "kernels/cuda/attention_tiles.cuh"

namespace cpplan::kernels::cuda {

/// For each head from first_head on and each row: lse in units of log 2, +inf where it is -inf so
/// that all weights of the row become 0; and delta = out . dout.
inline constexpr int statistics_threads = 256;

/// Grid: (rows over the warps of a block, heads).
template <class T>
__global__ void attention_statistics(Rows<const T> out, Rows<const T> dout, Rows<const float> lse,
                                     int rows, int head_dim, int first_head, float* statistics) {
  const int row = block_x() * (statistics_threads / 32) + warp();
  if (row >= rows) return;
  const int head = first_head + block_y();
  float delta = 0;
  for (int d = lane(); d < head_dim; d += 32)
    delta +=
        to_float(*out.at(row, head * head_dim + d)) * to_float(*dout.at(row, head * head_dim + d));
  for (int distance = 16; distance > 0; distance /= 2) delta += shuffle_xor(delta, distance);
  if (lane() != 0) return;
  const float of_row = *lse.at(row, head);
  float* const of_head = statistics + Index{2} * block_y() * rows;
  of_head[row] = of_row == -infinite ? infinite : of_row * log2_e;
  of_head[rows + row] = of_row == -infinite ? 0.0f : delta;
}

}  // namespace cpplan::kernels::cuda
