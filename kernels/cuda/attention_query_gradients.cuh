#pragma once
// dQ by a pass of its own, whose thread blocks own tiles of queries: scores are computed once more,
// and the bits are the same every time.
#include "kernels/cuda/attention_backward_tiles.cuh"

namespace cpplan::kernels::cuda {

/// The 16 queries of one warp while keys pass.
template <class Shape>
class QueryWarp {
 public:
  static constexpr int step_tiles = Shape::step / 8;
  using Scores = float[1][step_tiles][4];  // [queries, keys]

  __device__ QueryWarp(const AttentionArguments& arguments, int head)
      : arguments_(arguments), head_(head) {}

  __device__ static int first_query() { return warp() * 16; }
  __device__ void load(const BackwardTensors& t, int first_row, int valid);
  /// Scores become P.
  __device__ void weigh(Scores& s) const;
  __device__ void mask(Scores& weights, const WorkBlock& b, int first_owned, Range some) const;
  /// One bit for each element.
  __device__ std::uint32_t keep(const WorkBlock& b, int first_owned, Range some) const;
  /// dP becomes dS.
  __device__ void differentiate(const Scores& weights, Scores& gradients, std::uint32_t kept) const;
  __device__ void add(const Scores& gradients, const Bf16* k) {
    add_product<Shape>(dq_, gradients, k, 0);
  }
  __device__ void store(const BackwardTensors& t, int first_row, int valid) const;

 private:
  const AttentionArguments& arguments_;
  int head_;
  float dq_[1][Shape::head_dim / 8][4] = {};
  float lse_[2], delta_[2];
};

template <class Shape>
__device__ void QueryWarp<Shape>::load(const BackwardTensors& t, int first_row, int valid) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = first_query() + fragment_row(2 * half);
    lse_[half] = i < valid ? t.lse(head_)[first_row + i] : infinite;
    delta_[half] = i < valid ? t.delta(head_)[first_row + i] : 0.0f;
  }
}

template <class Shape>
__device__ void QueryWarp<Shape>::weigh(Scores& s) const {
  const float scale = arguments_.scale * log2_e;
#pragma unroll
  for (int n = 0; n < step_tiles; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) s[0][n][e] = fast_exp2(s[0][n][e] * scale - lse_[e / 2]);
}

template <class Shape>
__device__ void QueryWarp<Shape>::mask(Scores& weights, const WorkBlock& b, int first_owned,
                                       Range some) const {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Range seen = keys_of(b, arguments_, first_owned + first_query() + fragment_row(2 * half));
    const int begin = seen.begin - some.begin, end = seen.end - some.begin;
#pragma unroll
    for (int n = 0; n < step_tiles; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (fragment_column(n) + e < begin || fragment_column(n) + e >= end)
          weights[0][n][2 * half + e] = 0;
  }
}

template <class Shape>
__device__ std::uint32_t QueryWarp<Shape>::keep(const WorkBlock& b, int first_owned,
                                                Range some) const {
  if (arguments_.dropout.threshold == 0) return ~0u;
  std::uint32_t bits = 0;
#pragma unroll 1  // Philox is long
  for (int pair = 0; pair < 2 * step_tiles; ++pair) {
    const int i = first_owned + first_query() + fragment_row(pair % 2 * 2);
    const int j = some.begin + fragment_column(pair / 2);
    bits |= kept_pair(arguments_.dropout, q_position(b, i), k_position(b, j), k_position(b, j + 1),
                      head_, b.sample)
            << (2 * pair);
  }
  return bits;
}

template <class Shape>
__device__ void QueryWarp<Shape>::differentiate(const Scores& weights, Scores& gradients,
                                                std::uint32_t kept) const {
  const float factor = arguments_.dropout.factor;
#pragma unroll
  for (int n = 0; n < step_tiles; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float keep = (kept >> (4 * n + e) & 1u) != 0 ? factor : 0.0f;
      gradients[0][n][e] = weights[0][n][e] * (gradients[0][n][e] * keep - delta_[e / 2]);
    }
}

template <class Shape>
__device__ void QueryWarp<Shape>::store(const BackwardTensors& t, int first_row, int valid) const {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = first_query() + fragment_row(2 * half);
    if (i >= valid) continue;
    float* const dq = t.dq.at(first_row + i, head_ * arguments_.head_dim);
#pragma unroll
    for (int n = 0; n < Shape::head_dim / 8; ++n)
      if (fragment_column(n) < arguments_.head_dim)
        add_pair(dq + fragment_column(n), dq_[0][n], half, arguments_.scale);
  }
}

/// Grid: (heads from t.first_head on, query tiles).
template <int head_dim>
__global__ void __launch_bounds__(BackwardShape<head_dim>::query_threads)
    attention_query_gradients(const __grid_constant__ WorkList work,
                              const __grid_constant__ AttentionArguments arguments,
                              const __grid_constant__ BackwardTensors t) {
  using Shape = BackwardShape<head_dim>;
  using Walk = TileWalk<Owner::queries, Shape::owned, Shape::others>;
  const PairedTiles<Shape, Shape::query_threads> memory;  // own: q and dout; others: k and v
  const int head = t.first_head + block_x(), tile = work.tiles - 1 - block_y();
  const int column = head * arguments.head_dim;
  const int kv_column = head / arguments.heads_per_kv_head * arguments.head_dim;
  Walk next(work, arguments, tile);
  if (next.done()) return;
  const auto fetch = [&](int stage) {
    memory.fetch_others(stage, t.k, t.v, work.blocks[next.block()].k_row + next.other().begin,
                        kv_column, next.other().count(), arguments.head_dim);
  };
  const WorkBlock& first = work.blocks[next.block()];
  const Range queries = Walk::owned(first, tile);
  const int first_row = first.q_row + queries.begin;
  memory.fetch_owned(t.q, t.dout, first_row, column, queries.count(), arguments.head_dim);
  fetch(0);
  commit_copies();
  QueryWarp<Shape> rows(arguments, head);
  rows.load(t, first_row, queries.count());
  for (int stage = 0; !next.done(); stage ^= 1) {
    wait_for_copies<0>();
    sync_block();  // this tile is here, and the other stage is read no more
    const WorkBlock& b = work.blocks[next.block()];
    const Range seen = next.other();
    next.advance(work, arguments, tile);
    if (!next.done()) fetch(stage ^ 1);
    commit_copies();
    const bool whole = seen.count() == Shape::others && all_allowed(b, arguments, queries, seen);
#pragma unroll 1
    for (int at = 0; at < seen.count(); at += Shape::step) {
      const Range some = {seen.begin + at, seen.end};
      const Bf16 *const k = memory.first(stage, at), *const v = memory.second(stage, at);
      const std::uint32_t kept = rows.keep(b, queries.begin, some);
      typename QueryWarp<Shape>::Scores weights, gradients;
      multiply_rows<Shape>(weights, memory.own_first, rows.first_query(), k);
      rows.weigh(weights);
      if (!whole) rows.mask(weights, b, queries.begin, some);
      multiply_rows<Shape>(gradients, memory.own_second, rows.first_query(), v);
      rows.differentiate(weights, gradients, kept);
      rows.add(gradients, k);
    }
  }
  wait_for_copies<0>();
  rows.store(t, forgotten(first_row), forgotten(queries.count()));
}

}  // namespace cpplan::kernels::cuda
