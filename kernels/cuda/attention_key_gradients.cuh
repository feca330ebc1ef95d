#pragma once
// dK and dV: a thread block owns a tile of keys, for all the query heads that share them, and
// computes everything transposed: P^T and dS^T come out of the tensor cores as the A operands of dV
// and dK. dQ is added atomically here, in whatever order thread blocks come, or left to
// attention_query_gradients.cuh.
#include "kernels/cuda/attention_backward_tiles.cuh"

namespace cpplan::kernels::cuda {

/// The 16 keys of one warp while queries pass.
template <class Shape>
class KeyWarp {
 public:
  static constexpr int n_tiles = Shape::columns_of_keys / 8, step_tiles = Shape::step / 8;
  using Scores = float[1][step_tiles][4];  // [keys, queries]

  __device__ KeyWarp(const AttentionArguments& arguments) : arguments_(arguments) {}

  __device__ static int first_key() {
    return warp() * Shape::columns_of_keys / Shape::head_dim * 16;
  }

  /// Scores become P^T. lse: of the step's queries.
  __device__ void weigh(Scores& s, const float* lse) const;
  __device__ void mask(Scores& weights, const WorkBlock& b, int first_owned, Range some) const;
  /// One bit for each element.
  __device__ std::uint32_t keep(const WorkBlock& b, int first_owned, Range some, int head) const;
  /// P^T and dP^T become (P * D)^T and dS^T.
  __device__ void differentiate(Scores& weights, Scores& gradients, std::uint32_t kept,
                                const float* delta) const;
  __device__ void add(const Scores& weights, const Scores& gradients, const Bf16* q,
                      const Bf16* dout) {
    add_product<Shape>(dv_, weights, dout, first_column());
    add_product<Shape>(dk_, gradients, q, first_column());
  }
  __device__ void store(const BackwardTensors& t, int first_row, int valid, int kv_head) const;

 private:
  __device__ static int first_column() {
    return Shape::columns_of_keys == Shape::head_dim ? 0 : warp() % 2 * Shape::columns_of_keys;
  }

  const AttentionArguments& arguments_;
  float dk_[1][n_tiles][4] = {}, dv_[1][n_tiles][4] = {};
};

template <class Shape>
__device__ void KeyWarp<Shape>::weigh(Scores& s, const float* lse) const {
  const float scale = arguments_.scale * log2_e;
#pragma unroll
  for (int n = 0; n < step_tiles; ++n) {
    const auto of_queries = *reinterpret_cast<const FloatPair*>(lse + fragment_column(n));
#pragma unroll
    for (int e = 0; e < 4; ++e)
      s[0][n][e] = fast_exp2(s[0][n][e] * scale - (e % 2 == 0 ? of_queries.x : of_queries.y));
  }
}

template <class Shape>
__device__ void KeyWarp<Shape>::mask(Scores& weights, const WorkBlock& b, int first_owned,
                                     Range some) const {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Range seeing =
        queries_of(b, arguments_, first_owned + first_key() + fragment_row(2 * half));
    const int begin = seeing.begin - some.begin, end = seeing.end - some.begin;
#pragma unroll
    for (int n = 0; n < step_tiles; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (fragment_column(n) + e < begin || fragment_column(n) + e >= end)
          weights[0][n][2 * half + e] = 0;
  }
}

template <class Shape>
__device__ std::uint32_t KeyWarp<Shape>::keep(const WorkBlock& b, int first_owned, Range some,
                                              int head) const {
  if (arguments_.dropout.threshold == 0) return ~0u;
  static_assert(4 * step_tiles <= 32);
  std::uint32_t bits = 0;
#pragma unroll 1  // Philox is long
  for (int e = 0; e < 4 * step_tiles; ++e) {
    const int i = some.begin + fragment_column(e / 4) + e % 2;
    const int j = first_owned + first_key() + fragment_row(e % 4);
    const bool one = kept(arguments_.dropout, q_position(b, i), k_position(b, j), head, b.sample);
    bits |= (one ? 1u : 0u) << e;
  }
  return bits;
}

template <class Shape>
__device__ void KeyWarp<Shape>::differentiate(Scores& weights, Scores& gradients,
                                              std::uint32_t kept, const float* delta) const {
  const float factor = arguments_.dropout.factor;
#pragma unroll
  for (int n = 0; n < step_tiles; ++n) {
    const auto of_queries = *reinterpret_cast<const FloatPair*>(delta + fragment_column(n));
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float keep = (kept >> (4 * n + e) & 1u) != 0 ? factor : 0.0f, p = weights[0][n][e];
      weights[0][n][e] = p * keep;
      gradients[0][n][e] =
          p * (gradients[0][n][e] * keep - (e % 2 == 0 ? of_queries.x : of_queries.y));
    }
  }
}

template <class Shape>
__device__ void KeyWarp<Shape>::store(const BackwardTensors& t, int first_row, int valid,
                                      int kv_head) const {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int j = first_key() + fragment_row(2 * half);
    if (j >= valid) continue;
    float* const dk = t.dk.at(first_row + j, kv_head * arguments_.head_dim);
    float* const dv = t.dv.at(first_row + j, kv_head * arguments_.head_dim);
#pragma unroll
    for (int n = 0; n < n_tiles; ++n) {
      const int column = first_column() + fragment_column(n);
      if (column >= arguments_.head_dim) continue;
      add_pair(dk + column, dk_[0][n], half, arguments_.scale);
      add_pair(dv + column, dv_[0][n], half, 1);
    }
  }
}

/// The tile of dS in shared memory.
template <class Shape>
struct ScoreTile {
  static constexpr int pitch = Shape::score_pitch;
};

/// dS^T of a warp into the shared tile [queries, keys].
template <class Shape>
__device__ void put_gradients(Bf16* tile, const float (&gradients)[1][Shape::step / 8][4],
                              int first_query, int first_key) {
#pragma unroll
  for (int n = 0; n < Shape::step / 8; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      tile[(first_query + fragment_column(n) + e % 2) * Shape::score_pitch + first_key +
           fragment_row(e)] = to_bf16(gradients[0][n][e]);
}

/// Adds scale dS K to the gradients of `valid` queries. Each warp has 16 of them and a part of the
/// columns.
template <class Shape>
__device__ void add_to_queries(const BackwardTensors& t, const AttentionArguments& a,
                               const Bf16* gradients, const Bf16* k, int first_row, int valid,
                               int head) {
  constexpr int row_tiles = Shape::others / 16, parts = Shape::key_threads / 32 / row_tiles;
  constexpr int n_tiles = Shape::head_dim / 8 / parts;
  const int row = warp() % row_tiles * 16, first_column = warp() / row_tiles * n_tiles * 8;
  float dq[n_tiles][4] = {};
#pragma unroll 1
  for (int j = 0; j < Shape::owned; j += 16) {
    std::uint32_t of_gradients[4];
    load_a<ScoreTile<Shape>>(of_gradients, gradients, row, j);
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
      std::uint32_t of_k[4];
      load_b_of_columns<Shape>(of_k, k, j, first_column + 8 * n);
      multiply_add(dq[n], of_gradients, of_k[0], of_k[1]);
      if (n + 1 < n_tiles) multiply_add(dq[n + 1], of_gradients, of_k[2], of_k[3]);
    }
  }
#pragma unroll
  for (int n = 0; n < n_tiles; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = row + fragment_row(e), column = first_column + fragment_column(n) + e % 2;
      if (i < valid && column < a.head_dim)
        atomic_add(t.dq.at(first_row + i, head * a.head_dim + column), dq[n][e] * a.scale);
    }
}

/// What else a thread block that owns keys has in shared memory.
template <class Shape>
struct KeyMemory : PairedTiles<Shape, Shape::key_threads> {
  using Tiles = PairedTiles<Shape, Shape::key_threads>;
  float* lse = reinterpret_cast<float*>(Tiles::end());  // two stages
  float* delta = lse + 2 * Shape::others;
  Bf16* gradients = reinterpret_cast<Bf16*>(delta + 2 * Shape::others);

  __device__ void fetch_queries(const BackwardTensors& t, const AttentionArguments& a, int stage,
                                int row, int valid, int head) const {
    Tiles::fetch_others(stage, t.q, t.dout, row, head * a.head_dim, valid, a.head_dim);
    for (int i = thread(); i < Shape::others; i += Shape::key_threads) {
      lse[stage * Shape::others + i] = i < valid ? t.lse(head)[row + i] : infinite;
      delta[stage * Shape::others + i] = i < valid ? t.delta(head)[row + i] : 0.0f;
    }
  }
};

/// The query tiles that a tile of keys sees, of all the heads that share it.
template <class Shape>
class QueryTiles {
 public:
  using Walk = TileWalk<Owner::keys, Shape::owned, Shape::others>;

  __device__ QueryTiles(const WorkList& work, const AttentionArguments& a, int tile, int kv_head)
      : head_(kv_head * a.heads_per_kv_head),
        end_head_(head_ + a.heads_per_kv_head),
        walk_(work, a, tile) {
    if (walk_.done()) head_ = end_head_;
  }
  __device__ bool done() const { return head_ >= end_head_; }
  __device__ int head() const { return head_; }
  __device__ const Walk& walk() const { return walk_; }
  __device__ void advance(const WorkList& work, const AttentionArguments& a, int tile) {
    walk_.advance(work, a, tile);
    if (walk_.done() && ++head_ < end_head_) walk_ = Walk(work, a, tile);
  }

 private:
  int head_, end_head_;
  Walk walk_;
};

/// What the queries [seen) of a head give to the keys of a warp, and where `share` asks for it
/// their dS to the tile in shared memory.
template <class Shape>
__device__ void take_queries(KeyWarp<Shape>& rows, const KeyMemory<Shape>& memory, int stage,
                             const WorkBlock& b, Range keys, Range seen, bool whole, int head,
                             bool share) {
#pragma unroll 1
  for (int at = 0; at < Shape::others; at += Shape::step) {
    const Range some = {seen.begin + at, seen.end};
    const Bf16 *const q = memory.first(stage, at), *const dout = memory.second(stage, at);
    const std::uint32_t kept = rows.keep(b, keys.begin, some, head);
    typename KeyWarp<Shape>::Scores weights, gradients;
    multiply_rows<Shape>(weights, memory.own_first, rows.first_key(), q);
    rows.weigh(weights, memory.lse + stage * Shape::others + at);
    if (!whole) rows.mask(weights, b, keys.begin, some);
    multiply_rows<Shape>(gradients, memory.own_second, rows.first_key(), dout);
    rows.differentiate(weights, gradients, kept, memory.delta + stage * Shape::others + at);
    rows.add(weights, gradients, q, dout);
    if (share) put_gradients<Shape>(memory.gradients, gradients, at, rows.first_key());
  }
}

/// Grid: (key heads, key tiles). With t.dq.data null the gradients of queries are left to
/// attention_query_gradients().
template <int head_dim>
__global__ void __launch_bounds__(BackwardShape<head_dim>::key_threads)
    attention_key_gradients(const __grid_constant__ WorkList work,
                            const __grid_constant__ AttentionArguments arguments,
                            const __grid_constant__ BackwardTensors t) {
  using Shape = BackwardShape<head_dim>;
  const KeyMemory<Shape> memory;
  const int tile = block_y(), kv_head = t.first_head / arguments.heads_per_kv_head + block_x();
  QueryTiles<Shape> next(work, arguments, tile, kv_head);
  if (next.done()) return;
  const auto fetch = [&](int stage) {
    const Range some = next.walk().other();
    memory.fetch_queries(t, arguments, stage, work.blocks[next.walk().block()].q_row + some.begin,
                         some.count(), next.head());
  };
  const WorkBlock& first = work.blocks[next.walk().block()];
  const Range keys = QueryTiles<Shape>::Walk::owned(first, tile);
  memory.fetch_owned(t.k, t.v, first.k_row + keys.begin, kv_head * arguments.head_dim, keys.count(),
                     arguments.head_dim);
  fetch(0);
  commit_copies();
  KeyWarp<Shape> rows(arguments);
  for (int stage = 0; !next.done(); stage ^= 1) {
    wait_for_copies<0>();
    sync_block();  // this tile is here, and the other stage is read no more
    const WorkBlock& b = work.blocks[next.walk().block()];
    const Range seen = next.walk().other();
    const int head = next.head();
    next.advance(work, arguments, tile);
    if (!next.done()) fetch(stage ^ 1);
    commit_copies();
    const bool whole = keys.count() == Shape::owned && seen.count() == Shape::others &&
                       all_allowed(b, arguments, seen, keys);
    take_queries(rows, memory, stage, b, keys, seen, whole, head, t.dq.data != nullptr);
    if (t.dq.data == nullptr) continue;
    sync_block();  // all of dS is there; it is read before the next tile's barrier
    add_to_queries<Shape>(t, arguments, memory.gradients, memory.own_first, b.q_row + seen.begin,
                          seen.count(), head);
  }
  wait_for_copies<0>();
  const int same_tile = forgotten(tile);  // fewer registers than what is known of it
  const WorkBlock& mine = work.blocks[first_block(work, same_tile)];
  const Range owned = QueryTiles<Shape>::Walk::owned(mine, same_tile);
  rows.store(t, mine.k_row + owned.begin, owned.count(),
             t.first_head / arguments.heads_per_kv_head + block_x());
}

}  // namespace cpplan::kernels::cuda
