// Tiled attention with an online softmax (FlashAttention-2, arXiv 2307.08691). What earlier blocks
// left in (out, lse) is a softmax whose greatest score is lse and whose sum is 1, so merging is
// going on from there: no step of its own, and none of its special cases.
#include <cmath>

#include "kernels/cpu/attention_tiles.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// exp(score - max) in place inside the span and 0 outside; returns the sum.
CPPLAN_VECTORISED float exponentiate_row(float* scores, Span span, Index count, float max) {
  for (Index j = 0; j < span.begin; ++j) scores[j] = 0;
  for (Index j = span.end; j < count; ++j) scores[j] = 0;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index j = span.begin; j < span.end; ++j) {
    scores[j] = fast_exp(scores[j] - max);
    sum += scores[j];
  }
  return sum;
}

CPPLAN_VECTORISED float greatest_in(const float* scores, Span span) {
  return greatest(scores + span.begin, span.end - span.begin);
}

CPPLAN_VECTORISED void scale(float* x, Index n, float factor) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) x[j] *= factor;
}

CPPLAN_VECTORISED void multiply_span(float* x, const float* factors, Span span) {
#pragma omp simd
  for (Index j = span.begin; j < span.end; ++j) x[j] *= factors[j];
}

/// One tile of queries of one head, while the key tiles pass.
class QueryTile {
 public:
  static constexpr Index floats(Index head_dim) {
    return query_tile * (key_tile + 2 * head_dim + 2) + key_tile * (1 + head_dim);
  }

  QueryTile(const Attention& op, const Block& block, Index head, const Run& queries, float* buffer)
      : op_(op),
        sample_(block.sample + op.dropout.first_sample),
        head_(head),
        d_(op.head_dim),
        queries_(queries),
        scores_(buffer),
        sums_(scores_ + query_tile * key_tile),
        max_(sums_ + query_tile * d_),
        total_(max_ + query_tile),
        factors_(total_ + query_tile),
        q_room_(factors_ + key_tile),
        key_room_(q_room_ + query_tile * d_),
        q_(as_f32(tile_of(op.q, queries, head * d_, d_), q_room_)) {}

  void load() {
    for (Index i = 0; i < queries_.count; ++i) {
      max_[i] = *lse(i);
      total_[i] = max_[i] == -infinity ? 0.0f : 1.0f;
      if (total_[i] == 0)
        std::fill_n(sums_ + i * d_, d_, 0.0f);  // what `out` holds then has no weight, even NaN
      else
        std::copy_n(out(i), d_, sums_ + i * d_);
    }
  }

  void attend(const Run& keys, Coverage tile) {
    const Index column = kv_column(op_, head_);
    const Operand k = as_f32(tile_of(op_.k, keys, column, d_), key_room_);
    multiply({queries_.count, keys.count, d_}, static_cast<float>(op_.scale), q_, transposed(k), 0,
             scores_, key_tile);
    for (Index i = 0; i < queries_.count; ++i) weigh_row(i, keys, tile);
    const Operand v = as_f32(tile_of(op_.v, keys, column, d_), key_room_);
    multiply({queries_.count, d_, keys.count}, 1, {scores_, key_tile}, v, 1, sums_, d_);
  }

  void store() {
    for (Index i = 0; i < queries_.count; ++i) {
      if (total_[i] == 0) {  // no key yet
        std::fill_n(out(i), d_, 0.0f);
        continue;
      }
      std::copy_n(sums_ + i * d_, d_, out(i));
      scale(out(i), d_, 1 / total_[i]);
      *lse(i) = max_[i] + std::log(total_[i]);
    }
  }

 private:
  float* out(Index i) { return op_.out.row<float>(queries_.row + i) + head_ * d_; }
  float* lse(Index i) { return op_.lse.row<float>(queries_.row + i) + head_; }

  /// Scores of row i become weights relative to the greatest score so far.
  void weigh_row(Index i, const Run& keys, Coverage tile) {
    const Index q = queries_.first + i * queries_.stride;
    const Span span = span_of(q, keys, op_.band, tile);
    float* const scores = scores_ + i * key_tile;
    const float before = max_[i], max = std::max(before, greatest_in(scores, span));
    if (max == -infinity) return std::fill_n(scores, keys.count, 0.0f), void();
    const float sum = exponentiate_row(scores, span, keys.count, max);
    if (max != before) {
      const float correction = fast_exp(before - max);
      scale(sums_ + i * d_, d_, correction);
      total_[i] *= correction;
    }
    max_[i] = max;
    total_[i] += sum;  // of all weights: dropout comes after the softmax
    if (op_.dropout.rate > 0) drop(q, keys, span, scores);
  }

  void drop(Index q, const Run& keys, Span span, float* weights) {
    attention_factors(op_.dropout, q, op_.first_head + head_, sample_, keys, span, factors_);
    multiply_span(weights, factors_, span);
  }

  const Attention& op_;
  const Index sample_, head_, d_;
  const Run queries_;
  float *scores_, *sums_, *max_, *total_, *factors_;
  float *q_room_, *key_room_;  // bf16 as f32
  const Operand q_;
};

}  // namespace

void CpuOps::run(const Attention& op) {
  float* const buffer = scratch(QueryTile::floats(op.head_dim));
  const auto attend = [&](const Block& block, Index head, const Run& queries) {
    QueryTile tile(op, block, head, queries, buffer);
    tile.load();
    for_each_key_tile(block, queries, op.band, [&](const Run& keys, Coverage coverage) {
      tile.attend(keys, coverage);
      if (progress_) progress_();
    });
    tile.store();
  };
  for (const Block& block : op.blocks) {
    if (block.coverage == Coverage::none) continue;
    for (Index head = 0; head < op.heads(); ++head)
      for_each_tile(block.q, query_tile, [&](const Run& queries) { attend(block, head, queries); });
  }
}

}  // namespace cpplan::kernels::cpu
