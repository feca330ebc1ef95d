#pragma once
// Gradients of attention on tensor cores: what its two kernels share. Weights are computed again
// from the final lse, so that nothing of the forward pass's blocks is kept:
//   P = exp(scale Q K^T - lse), D = dropout factors, delta = rowsum(dO * O)
//   dV += (P * D)^T dO,  dS = P * (dO V^T * D - delta),  dQ += scale dS K,  dK += scale dS^T Q
#include "kernels/cuda/attention_tiles.cuh"

namespace cpplan::kernels::cuda {

struct BackwardTensors {
  Rows<const Bf16> q, k, v, dout;
  Rows<float> dq, dk, dv;
  /// Of each head from first_head on and each row of q: lse in units of log 2, +inf where it is
  /// -inf, and delta.
  const float* statistics = nullptr;
  int first_head = 0;
  Index rows = 0;
  __device__ const float* lse(int head) const {
    return statistics + 2 * (head - first_head) * rows;
  }
  __device__ const float* delta(int head) const { return lse(head) + rows; }
};

/// Sizes of both kernels: `owned` rows, whose results are in registers, 16 for each warp, against
/// `others` that arrive at once, `step` of which are in registers. Of head_dim 256 the results of
/// 16 keys do not fit a warp: two share them, and each has half of the columns.
template <int head_dim_>
struct BackwardShape : TileShape<head_dim_> {
  static constexpr int columns_of_keys = head_dim_ <= 128 ? head_dim_ : head_dim_ / 2;
  static constexpr int owned = head_dim_ <= 128 ? 128 : 64, others = head_dim_ <= 128 ? 64 : 32;
  static constexpr int step = 32;
  static constexpr int key_threads = 256, query_threads = owned / 16 * 32;
  static constexpr Index tiles_bytes = TileShape<head_dim_>::bytes(2 * owned + 4 * others);
  /// lse and delta of two stages, and dS of one: [others, owned].
  static constexpr Index statistics_bytes = 4 * others * 4;
  static constexpr int score_pitch = owned + 8;
  static constexpr Index key_bytes = tiles_bytes + statistics_bytes + others * score_pitch * 2;
};

/// Shared memory of both kernels: a pair of tiles that is owned, and two stages of the pairs that
/// pass.
template <class Shape, int thread_count>
struct PairedTiles {
  static constexpr int owned_tile = Shape::owned * Shape::pitch;
  static constexpr int stage_tile = Shape::others * Shape::pitch;
  Bf16* own_first = dynamic_shared<Bf16>();
  Bf16* own_second = own_first + owned_tile;
  Bf16* others = own_second + owned_tile;

  __device__ Bf16* first(int stage, int row) const {
    return others + 2 * stage * stage_tile + row * Shape::pitch;
  }
  __device__ Bf16* second(int stage, int row) const { return first(stage, row) + stage_tile; }
  __device__ Bf16* end() const { return others + 4 * stage_tile; }

  __device__ void fetch_owned(Rows<const Bf16> a, Rows<const Bf16> b, int row, int column,
                              int valid, int head_dim) const {
    load_tile<Shape, Shape::owned, thread_count>(own_first, {a.at(row, column), a.stride}, valid,
                                                 head_dim);
    load_tile<Shape, Shape::owned, thread_count>(own_second, {b.at(row, column), b.stride}, valid,
                                                 head_dim);
  }
  __device__ void fetch_others(int stage, Rows<const Bf16> a, Rows<const Bf16> b, int row,
                               int column, int valid, int head_dim) const {
    load_tile<Shape, Shape::others, thread_count>(first(stage, 0), {a.at(row, column), a.stride},
                                                  valid, head_dim);
    load_tile<Shape, Shape::others, thread_count>(second(stage, 0), {b.at(row, column), b.stride},
                                                  valid, head_dim);
  }
};

/// Adds the sums of a fragment, times `factor`, to two neighbours.
__device__ inline void add_pair(float* sum, const float (&c)[4], int half, float factor) {
  auto* const pair = reinterpret_cast<FloatPair*>(sum);
  const FloatPair before = *pair;
  *pair = {before.x + c[2 * half] * factor, before.y + c[2 * half + 1] * factor};
}

}  // namespace cpplan::kernels::cuda
