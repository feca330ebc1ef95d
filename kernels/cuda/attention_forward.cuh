#pragma once
// Attention on tensor cores (FlashAttention-2, arXiv 2307.08691): a thread block owns a tile of
// queries of one head and walks the keys that it sees. Probabilities stay in registers, where the
// accumulator of Q K^T is the A operand of P V; keys and values of the next tile arrive while this
// one is computed. What earlier calls left in (out, lse) is a softmax whose greatest score is lse
// and whose sum is 1, so merging is going on from there.
#include "kernels/cuda/attention_tiles.cuh"

namespace cpplan::kernels::cuda {

/// Sizes of a thread block: each of its warps has 16 * row_tiles queries. Two row tiles read a
/// fragment of K or V for twice the work, which shared memory needs to keep up with tensor cores;
/// of head_dim 256 the registers hold one.
template <int head_dim_>
struct ForwardShape : TileShape<head_dim_> {
  static constexpr int row_tiles = head_dim_ <= 128 ? 2 : 1;
  static constexpr int warps = head_dim_ <= 128 ? 4 : 8, threads = 32 * warps;
  static constexpr int queries = 16 * row_tiles * warps;
  static constexpr int keys = head_dim_ <= 128 ? 64 : 32;   // that arrive at once,
  static constexpr int step = head_dim_ >= 96 ? 32 : keys;  // and whose scores are in registers
  static constexpr Index shared_bytes = TileShape<head_dim_>::bytes(queries + 4 * keys);
};

struct ForwardTensors {
  Rows<const Bf16> q, k, v;
  Rows<float> out, lse;
};

/// The queries of one warp while key tiles pass. A lane holds rows g and g + 8 of each row tile.
template <class Shape>
class ForwardWarp {
 public:
  static constexpr int row_tiles = Shape::row_tiles, keys = Shape::step;
  using Scores = float[row_tiles][keys / 8][4];

  __device__ ForwardWarp(const AttentionArguments& arguments, int head)
      : arguments_(arguments), head_(head), scale_(arguments.scale * log2_e) {}

  __device__ void load(const ForwardTensors& t, int first_row, int valid);
  __device__ void store(const ForwardTensors& t, int first_row, int valid);

  /// Scores, in units of log 2.
  __device__ void score(Scores& s, const Bf16* q, const Bf16* k) const;
  __device__ void mask(Scores& s, const WorkBlock& b, int first_query, Range seen) const;
  /// Scores become weights relative to the greatest so far, to which the sums are brought.
  __device__ void exponentiate(Scores& s);
  __device__ void drop(Scores& s, const WorkBlock& b, int first_query, Range seen) const;
  __device__ void add_values(const Scores& weights, const Bf16* v) {
    add_product<Shape>(sums_, weights, v, 0);
  }

 private:
  __device__ static int row(int row_tile, int half) {
    return (warp() * row_tiles + row_tile) * 16 + fragment_row(2 * half);
  }

  const AttentionArguments& arguments_;
  int head_;
  float scale_;
  float sums_[row_tiles][Shape::head_dim / 8][4];
  float greatest_[row_tiles][2], total_[row_tiles][2];  // total: this lane's part
};

template <class Shape>
__device__ void ForwardWarp<Shape>::load(const ForwardTensors& t, int first_row, int valid) {
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = row(m, half);
      const float lse = i < valid ? *t.lse.at(first_row + i, head_) : -infinite;
      const bool some = lse != -infinite;  // else what `out` holds has no weight, even NaN
      greatest_[m][half] = lse * log2_e;
      total_[m][half] = some && lane() % 4 == 0 ? 1.0f : 0.0f;
      const float* const out = t.out.at(first_row + i, head_ * arguments_.head_dim);
#pragma unroll
      for (int n = 0; n < Shape::head_dim / 8; ++n) {
        const bool inside = some && fragment_column(n) < arguments_.head_dim;
        const FloatPair before =
            inside ? *reinterpret_cast<const FloatPair*>(out + fragment_column(n)) : FloatPair{};
        sums_[m][n][2 * half] = before.x, sums_[m][n][2 * half + 1] = before.y;
      }
    }
}

template <class Shape>
__device__ void ForwardWarp<Shape>::score(Scores& s, const Bf16* q, const Bf16* k) const {
  multiply_rows<Shape>(s, q, warp() * 16 * row_tiles, k);
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int n = 0; n < keys / 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] *= scale_;
}

template <class Shape>
__device__ void ForwardWarp<Shape>::mask(Scores& s, const WorkBlock& b, int first_query,
                                         Range seen) const {
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Range visible = keys_of(b, arguments_, first_query + row(m, half));
      const int begin = visible.begin - seen.begin, end = visible.end - seen.begin;
#pragma unroll
      for (int n = 0; n < keys / 8; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (fragment_column(n) + e < begin || fragment_column(n) + e >= end)
            s[m][n][2 * half + e] = -infinite;
    }
}

template <class Shape>
__device__ void ForwardWarp<Shape>::exponentiate(Scores& s) {
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float greatest = greatest_[m][half];
#pragma unroll
      for (int n = 0; n < keys / 8; ++n)
        greatest = fmaxf(greatest, fmaxf(s[m][n][2 * half], s[m][n][2 * half + 1]));
      greatest = fmaxf(greatest, shuffle_xor(greatest, 1));
      greatest = fmaxf(greatest, shuffle_xor(greatest, 2));
      const float base = greatest == -infinite ? 0.0f : greatest;  // no key yet: all weights are 0
      const float correction = fast_exp2(greatest_[m][half] - base);
      float sum = 0;
#pragma unroll
      for (int n = 0; n < keys / 8; ++n)
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e)
          sum += s[m][n][e] = fast_exp2(s[m][n][e] - base);
      greatest_[m][half] = greatest;
      total_[m][half] = total_[m][half] * correction + sum;  // dropout comes after the softmax
#pragma unroll
      for (int n = 0; n < Shape::head_dim / 8; ++n)
        sums_[m][n][2 * half] *= correction, sums_[m][n][2 * half + 1] *= correction;
    }
}

template <class Shape>
__device__ void ForwardWarp<Shape>::drop(Scores& s, const WorkBlock& b, int first_query,
                                         Range seen) const {
  constexpr int pairs = row_tiles * keys / 4;  // of neighbours, a bit for each element of s
  static_assert(2 * pairs <= 64);
  std::uint64_t kept = 0;
#pragma unroll 1  // Philox is long
  for (int pair = 0; pair < pairs; ++pair) {
    const int n = pair / 2 % (keys / 8), m = pair / 2 / (keys / 8);
    const int i = first_query + row(m, pair % 2), j = seen.begin + fragment_column(n);
    const std::uint64_t bits = kept_pair(arguments_.dropout, q_position(b, i), k_position(b, j),
                                         k_position(b, j + 1), head_, b.sample);
    kept |= bits << (2 * pair);
  }
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int n = 0; n < keys / 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const bool keep = (kept >> ((m * (keys / 8) + n) * 4 + e) & 1) != 0;
        s[m][n][e] = keep ? s[m][n][e] * arguments_.dropout.factor : 0.0f;
      }
}

template <class Shape>
__device__ void ForwardWarp<Shape>::store(const ForwardTensors& t, int first_row, int valid) {
#pragma unroll
  for (int m = 0; m < row_tiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = total_[m][half];
      total += shuffle_xor(total, 1);
      total += shuffle_xor(total, 2);
      const int i = row(m, half);
      if (i >= valid) continue;
      const float factor = total == 0 ? 0.0f : 1 / total;
      float* const out = t.out.at(first_row + i, head_ * arguments_.head_dim);
#pragma unroll
      for (int n = 0; n < Shape::head_dim / 8; ++n)
        if (fragment_column(n) < arguments_.head_dim)
          *reinterpret_cast<FloatPair*>(out + fragment_column(n)) = {
              sums_[m][n][2 * half] * factor, sums_[m][n][2 * half + 1] * factor};
      if (total != 0 && lane() % 4 == 0)
        *t.lse.at(first_row + i, head_) = (greatest_[m][half] + log2f(total)) * ln_2;
    }
}

/// Grid: (heads, query tiles). The tiles that see most keys under a causal mask come first, so that
/// the last blocks to start are short.
template <int head_dim>
__global__ void __launch_bounds__(ForwardShape<head_dim>::threads)
    attention_forward(const __grid_constant__ WorkList work,
                      const __grid_constant__ AttentionArguments arguments,
                      const __grid_constant__ ForwardTensors t) {
  using Shape = ForwardShape<head_dim>;
  using Walk = TileWalk<Owner::queries, Shape::queries, Shape::keys>;
  Bf16* const q = dynamic_shared<Bf16>();
  Bf16* const k = q + Shape::queries * Shape::pitch;
  Bf16* const v = k + 2 * Shape::keys * Shape::pitch;
  const int head = block_x(), kv_column = head / arguments.heads_per_kv_head * arguments.head_dim;
  const int tile = work.tiles - 1 - block_y();
  Walk next(work, arguments, tile);

  const auto fetch = [&](int stage) {
    const int row = work.blocks[next.block()].k_row + next.other().begin;
    const int valid = next.other().count(), offset = stage * Shape::keys * Shape::pitch;
    load_tile<Shape, Shape::keys, Shape::threads>(k + offset, {t.k.at(row, kv_column), t.k.stride},
                                                  valid, arguments.head_dim);
    load_tile<Shape, Shape::keys, Shape::threads>(v + offset, {t.v.at(row, kv_column), t.v.stride},
                                                  valid, arguments.head_dim);
  };
  const WorkBlock& first = work.blocks[first_block(work, tile)];
  const Range queries = Walk::owned(first, tile);
  const int first_row = first.q_row + queries.begin;
  load_tile<Shape, Shape::queries, Shape::threads>(
      q, {t.q.at(first_row, head * arguments.head_dim), t.q.stride}, queries.count(),
      arguments.head_dim);
  if (!next.done()) fetch(0);  // else no query sees a key, which is a result as well
  commit_copies();
  ForwardWarp<Shape> rows(arguments, head);
  rows.load(t, first_row, queries.count());

  for (int stage = 0; !next.done(); stage ^= 1) {
    wait_for_copies<0>();
    sync_block();  // this tile is here, and the other stage is read no more
    const WorkBlock& b = work.blocks[next.block()];
    const Range seen = next.other();
    next.advance(work, arguments, tile);
    if (!next.done()) fetch(stage ^ 1);
    commit_copies();
    const bool whole = seen.count() == Shape::keys && all_allowed(b, arguments, queries, seen);
    const Bf16* const k_now = k + stage * Shape::keys * Shape::pitch;
    const Bf16* const v_now = v + stage * Shape::keys * Shape::pitch;
#pragma unroll 1
    for (int at = 0; at < seen.count(); at += Shape::step) {
      const Range some = {seen.begin + at, min(seen.begin + at + Shape::step, seen.end)};
      typename ForwardWarp<Shape>::Scores s;
      rows.score(s, q, k_now + at * Shape::pitch);
      if (!whole) rows.mask(s, b, queries.begin, some);
      rows.exponentiate(s);
      if (arguments.dropout.threshold > 0) rows.drop(s, b, queries.begin, some);
      rows.add_values(s, v_now + at * Shape::pitch);
    }
  }
  wait_for_copies<0>();
  rows.store(t, forgotten(first_row), forgotten(queries.count()));
}

}  // namespace cpplan::kernels::cuda
