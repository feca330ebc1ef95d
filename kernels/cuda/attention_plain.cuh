#pragma once
// Attention without tensor cores, for f32 and for what they do not take: any head_dim up to 256,
// rows anywhere. A warp owns a row; its lanes are the other side's rows while scores are computed,
// and columns while results are summed. All sums are in one order.
#include "kernels/cuda/attention_tiles.cuh"

namespace cpplan::kernels::cuda {

struct PlainShape {
  static constexpr int threads = 256, owned = threads / 32, others = 32;
  static constexpr int most_columns = 256 / 32;  // of a lane
  /// Two pairs of tiles whose rows lie in different banks, and two weights for each pair of rows.
  static constexpr Index shared_bytes(Index head_dim) {
    return 4 * (2 * (owned + others) * (head_dim + 1) + 2 * owned * others);
  }
};

template <class T>
struct PlainTensors {
  Rows<const T> q, k, v, dout;
  Rows<float> out, lse, dq, dk, dv;
  const float* statistics = nullptr;
  int first_head = 0;
  Index rows = 0;
  __device__ float lse_of(int head, int row) const {
    return statistics[2 * (head - first_head) * rows + row];
  }
  __device__ float delta_of(int head, int row) const {
    return statistics[(2 * (head - first_head) + 1) * rows + row];
  }
};

/// Shared memory, and the warp's part in it.
struct PlainMemory {
  int head_dim, pitch = head_dim + 1;
  float* own_first = dynamic_shared<float>();
  float* own_second = own_first + PlainShape::owned * pitch;
  float* first = own_second + PlainShape::owned * pitch;
  float* second = first + PlainShape::others * pitch;
  float* weights = second + PlainShape::others * pitch + warp() * PlainShape::others;
  float* gradients = weights + PlainShape::owned * PlainShape::others;

  __device__ explicit PlainMemory(int head_dim_) : head_dim(head_dim_) {}

  template <class T>
  __device__ void load(float* tile, Rows<const T> from, int row, int column, int valid) const {
    for (int i = warp(); i < valid; i += PlainShape::owned)
      for (int d = lane(); d < head_dim; d += 32)
        tile[i * pitch + d] = to_float(*from.at(row + i, column + d));
  }
  __device__ float product(const float* own, const float* other) const {
    float sum = 0;
    for (int d = 0; d < head_dim; ++d) sum += own[warp() * pitch + d] * other[lane() * pitch + d];
    return sum;
  }
  /// sums += the rows of `other` times `factors`, this lane's columns.
  __device__ void add(float (&sums)[PlainShape::most_columns], const float* factors,
                      const float* other, int count) const {
    for (int j = 0; j < count; ++j)
#pragma unroll
      for (int c = 0; c < PlainShape::most_columns; ++c)
        if (lane() + 32 * c < head_dim) sums[c] += factors[j] * other[j * pitch + lane() + 32 * c];
  }
};

/// sum += sums * factor, or sum = sums * factor.
template <bool accumulate>
__device__ void store_columns(float* row, const float (&sums)[PlainShape::most_columns],
                              float factor, int head_dim) {
#pragma unroll
  for (int c = 0; c < PlainShape::most_columns; ++c) {
    const int column = lane() + 32 * c;
    if (column >= head_dim) continue;
    const float before = accumulate ? row[column] : 0.0f;
    row[column] = before + sums[c] * factor;
  }
}

__device__ inline float keep_factor(const AttentionArguments& a, const WorkBlock& b, int i, int j,
                                    int head) {
  if (a.dropout.threshold == 0) return 1;
  const bool keep = kept(a.dropout, q_position(b, i), k_position(b, j), head, b.sample);
  return keep ? a.dropout.factor : 0.0f;
}

__device__ inline bool inside(Range range, int i) {
  return i >= range.begin && i < range.end;
}

/// The softmax of a row so far.
struct PlainRow {
  float sums[PlainShape::most_columns] = {}, greatest = -infinite, total = 0;

  __device__ void load(const float* out, float lse, int head_dim) {
    if (lse == -infinite) return;  // what `out` holds then has no weight, even NaN
    greatest = lse, total = 1;
#pragma unroll
    for (int c = 0; c < PlainShape::most_columns; ++c)
      if (lane() + 32 * c < head_dim) sums[c] = out[lane() + 32 * c];
  }
  /// This lane's score becomes its weight.
  __device__ float weigh(float score) {
    float now = fmaxf(greatest, score);
    for (int distance = 16; distance > 0; distance /= 2)
      now = fmaxf(now, shuffle_xor(now, distance));
    if (now == -infinite) return 0;  // no key yet, in any lane
    const float weight = expf(score - now), correction = expf(greatest - now);
    float sum = weight;
    for (int distance = 16; distance > 0; distance /= 2) sum += shuffle_xor(sum, distance);
#pragma unroll
    for (int c = 0; c < PlainShape::most_columns; ++c) sums[c] *= correction;
    total = total * correction + sum;
    greatest = now;
    return weight;
  }
};

/// Grid: (heads, query tiles).
template <class T>
__global__ void __launch_bounds__(PlainShape::threads, 1)
    plain_forward(const __grid_constant__ WorkList work,
                  const __grid_constant__ AttentionArguments a,
                  const __grid_constant__ PlainTensors<T> t) {
  using Walk = TileWalk<Owner::queries, PlainShape::owned, PlainShape::others>;
  const PlainMemory memory(a.head_dim);
  const int head = block_x(), tile = work.tiles - 1 - block_y(), column = head * a.head_dim;
  const int kv_column = head / a.heads_per_kv_head * a.head_dim;
  Walk walk(work, a, tile);
  const WorkBlock& first = work.blocks[first_block(work, tile)];
  const Range queries = Walk::owned(first, tile);
  const int i = queries.begin + warp(), row = first.q_row + i;
  memory.load(memory.own_first, t.q, row - warp(), column, queries.count());
  PlainRow own;
  if (i < queries.end) own.load(t.out.at(row, column), *t.lse.at(row, head), a.head_dim);
  for (; !walk.done(); walk.advance(work, a, tile)) {
    const WorkBlock& b = work.blocks[walk.block()];
    const Range seen = walk.other();
    sync_block();
    memory.load(memory.first, t.k, b.k_row + seen.begin, kv_column, seen.count());
    memory.load(memory.second, t.v, b.k_row + seen.begin, kv_column, seen.count());
    sync_block();
    const int j = seen.begin + lane();
    const bool sees = i < queries.end && j < seen.end && inside(keys_of(b, a, i), j);
    const float score = sees ? memory.product(memory.own_first, memory.first) * a.scale : -infinite;
    const float weight = own.weigh(score);
    memory.weights[lane()] = sees ? weight * keep_factor(a, b, i, j, head) : 0.0f;
    sync_warp();
    memory.add(own.sums, memory.weights, memory.second, seen.count());
  }
  if (i >= queries.end) return;
  store_columns<false>(t.out.at(row, column), own.sums, own.total == 0 ? 0.0f : 1 / own.total,
                       a.head_dim);
  if (own.total != 0 && lane() == 0) *t.lse.at(row, head) = own.greatest + logf(own.total);
}

/// What a pair contributes: P * D and scale dS.
struct PlainPair {
  float weight = 0, gradient = 0;
  __device__ PlainPair(bool sees, float score, float of_dout, float keep, float lse, float delta,
                       float scale) {
    if (!sees) return;
    const float p = exp2f(score * (scale * log2_e) - lse);
    weight = p * keep, gradient = p * (of_dout * keep - delta) * scale;
  }
};

/// Grid: (heads from t.first_head on, query tiles).
template <class T>
__global__ void __launch_bounds__(PlainShape::threads, 1)
    plain_query_gradients(const __grid_constant__ WorkList work,
                          const __grid_constant__ AttentionArguments a,
                          const __grid_constant__ PlainTensors<T> t) {
  using Walk = TileWalk<Owner::queries, PlainShape::owned, PlainShape::others>;
  const PlainMemory memory(a.head_dim);
  const int head = t.first_head + block_x(), tile = block_y(), column = head * a.head_dim;
  const int kv_column = head / a.heads_per_kv_head * a.head_dim;
  Walk walk(work, a, tile);
  if (walk.done()) return;
  const Range queries = Walk::owned(work.blocks[walk.block()], tile);
  const int i = queries.begin + warp(), row = work.blocks[walk.block()].q_row + i;
  memory.load(memory.own_first, t.q, row - warp(), column, queries.count());
  memory.load(memory.own_second, t.dout, row - warp(), column, queries.count());
  const float lse = i < queries.end ? t.lse_of(head, row) : infinite;
  const float delta = i < queries.end ? t.delta_of(head, row) : 0.0f;
  float sums[PlainShape::most_columns] = {};
  for (; !walk.done(); walk.advance(work, a, tile)) {
    const WorkBlock& b = work.blocks[walk.block()];
    const Range seen = walk.other();
    sync_block();
    memory.load(memory.first, t.k, b.k_row + seen.begin, kv_column, seen.count());
    memory.load(memory.second, t.v, b.k_row + seen.begin, kv_column, seen.count());
    sync_block();
    const int j = seen.begin + lane();
    const bool sees = i < queries.end && j < seen.end && inside(keys_of(b, a, i), j);
    const PlainPair pair(sees, memory.product(memory.own_first, memory.first),
                         memory.product(memory.own_second, memory.second),
                         keep_factor(a, b, i, j, head), lse, delta, a.scale);
    memory.gradients[lane()] = pair.gradient;
    sync_warp();
    memory.add(sums, memory.gradients, memory.first, seen.count());
  }
  if (i < queries.end) store_columns<true>(t.dq.at(row, column), sums, 1, a.head_dim);
}

/// Grid: (key heads, key tiles).
template <class T>
__global__ void __launch_bounds__(PlainShape::threads, 1)
    plain_key_gradients(const __grid_constant__ WorkList work,
                        const __grid_constant__ AttentionArguments a,
                        const __grid_constant__ PlainTensors<T> t) {
  using Walk = TileWalk<Owner::keys, PlainShape::owned, PlainShape::others>;
  const PlainMemory memory(a.head_dim);
  const int tile = block_y(), kv_head = t.first_head / a.heads_per_kv_head + block_x();
  const int kv_column = kv_head * a.head_dim;
  const Walk start(work, a, tile);
  if (start.done()) return;
  const Range keys = Walk::owned(work.blocks[start.block()], tile);
  const int j = keys.begin + warp(), row = work.blocks[start.block()].k_row + j;
  memory.load(memory.own_first, t.k, row - warp(), kv_column, keys.count());
  memory.load(memory.own_second, t.v, row - warp(), kv_column, keys.count());
  float dk[PlainShape::most_columns] = {}, dv[PlainShape::most_columns] = {};
  for (int h = 0; h < a.heads_per_kv_head; ++h) {
    const int head = kv_head * a.heads_per_kv_head + h, column = head * a.head_dim;
    for (Walk walk = start; !walk.done(); walk.advance(work, a, tile)) {
      const WorkBlock& b = work.blocks[walk.block()];
      const Range seen = walk.other();
      sync_block();
      memory.load(memory.first, t.q, b.q_row + seen.begin, column, seen.count());
      memory.load(memory.second, t.dout, b.q_row + seen.begin, column, seen.count());
      sync_block();
      const int i = seen.begin + lane();
      const bool sees = j < keys.end && i < seen.end && inside(queries_of(b, a, j), i);
      const int query = sees ? b.q_row + i : b.q_row;
      const PlainPair pair(sees, memory.product(memory.own_first, memory.first),
                           memory.product(memory.own_second, memory.second),
                           keep_factor(a, b, i, j, head), t.lse_of(head, query),
                           t.delta_of(head, query), a.scale);
      memory.weights[lane()] = pair.weight, memory.gradients[lane()] = pair.gradient;
      sync_warp();
      memory.add(dv, memory.weights, memory.second, seen.count());
      memory.add(dk, memory.gradients, memory.first, seen.count());
    }
  }
  if (j >= keys.end) return;
  store_columns<true>(t.dk.at(row, kv_column), dk, 1, a.head_dim);
  store_columns<true>(t.dv.at(row, kv_column), dv, 1, a.head_dim);
}

}  // namespace cpplan::kernels::cuda
