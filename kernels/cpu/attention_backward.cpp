// Backward of attention. Weights are computed again from the final lse, so that nothing of the
// forward pass's blocks is kept:
//   P = exp(scale Q K^T - lse), D = dropout factors, delta = rowsum(dO * O)
//   dV += (P * D)^T dO,  dS = scale P * (dO V^T * D - delta),  dQ += dS K,  dK += dS^T Q
#include "kernels/cpu/attention_tiles.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

CPPLAN_VECTORISED float row_delta(const float* out, const float* dout, Index d) {
  return dot(out, dout, d);
}

/// weights, in: scores; out: P * D. grads, in: dO V^T; out: dS. Both 0 outside the span.
CPPLAN_VECTORISED void differentiate_row(float* weights, float* grads, const float* factors,
                                         Span span, Index count, float lse, float delta,
                                         float scale) {
  for (Index j = 0; j < span.begin; ++j) weights[j] = grads[j] = 0;
  for (Index j = span.end; j < count; ++j) weights[j] = grads[j] = 0;
#pragma omp simd
  for (Index j = span.begin; j < span.end; ++j) {
    const float p = fast_exp(weights[j] - lse);
    weights[j] = p * factors[j];
    grads[j] = p * (grads[j] * factors[j] - delta) * scale;
  }
}

/// One tile of queries of one head, while the key tiles pass.
class QueryTileBackward {
 public:
  static constexpr Index floats(Index head_dim) {
    return query_tile * (2 * key_tile + 1 + 3 * head_dim) + key_tile * (1 + 2 * head_dim);
  }

  QueryTileBackward(const AttentionBackward& op, const Block& block, Index head, const Run& queries,
                    float* buffer)
      : op_(op),
        sample_(block.sample + op.dropout.first_sample),
        head_(head),
        d_(op.head_dim),
        queries_(queries),
        weights_(buffer),
        grads_(weights_ + query_tile * key_tile),
        delta_(grads_ + query_tile * key_tile),
        factors_(delta_ + query_tile),
        key_room_(factors_ + key_tile),
        query_room_(key_room_ + 2 * key_tile * d_),
        q_(query_operand(op.q, 0)),
        dout_(query_operand(op.dout, 1)) {
    std::fill_n(factors_, key_tile, 1.0f);
    const Operand out = query_operand(op.out, 2);
    for (Index i = 0; i < queries_.count; ++i)
      delta_[i] = row_delta(out.data + i * out.stride, dout_.data + i * dout_.stride, d_);
  }

  void attend(const Run& keys, Coverage tile) {
    const Operand k = key_operand(op_.k, keys, 0), v = key_operand(op_.v, keys, 1);
    const ProductShape scores{queries_.count, keys.count, d_};
    multiply(scores, static_cast<float>(op_.scale), q_, transposed(k), 0, weights_, key_tile);
    multiply(scores, 1, dout_, transposed(v), 0, grads_, key_tile);
    for (Index i = 0; i < queries_.count; ++i) differentiate(i, keys, tile);

    const Operand weights{weights_, key_tile}, grads{grads_, key_tile};
    const ProductShape to_keys{keys.count, d_, queries_.count};
    add(to_keys, transposed(weights), dout_, op_.dv, keys.row, kv_column(op_, head_));
    add(to_keys, transposed(grads), q_, op_.dk, keys.row, kv_column(op_, head_));
    add({queries_.count, d_, keys.count}, grads, k, op_.dq, queries_.row, head_ * d_);
  }

 private:
  static void add(ProductShape shape, Operand a, Operand b, const Tensor& sum, Index row,
                  Index column) {
    multiply(shape, 1, a, b, 1, sum.row<float>(row) + column, sum.stride);
  }

  /// `room`: which of the rooms for bf16 as f32.
  Operand query_operand(const Tensor& t, Index room) const {
    return as_f32(tile_of(t, queries_, head_ * d_, d_), query_room_ + room * query_tile * d_);
  }
  Operand key_operand(const Tensor& t, const Run& keys, Index room) const {
    return as_f32(tile_of(t, keys, kv_column(op_, head_), d_), key_room_ + room * key_tile * d_);
  }

  void differentiate(Index i, const Run& keys, Coverage tile) {
    const Index q = queries_.first + i * queries_.stride;
    const float lse = op_.lse.row<float>(queries_.row + i)[head_];
    const Span seen = span_of(q, keys, op_.band, tile);
    const Span span = lse == -infinity ? Span{0, 0} : seen;  // a row without keys has no weights
    if (op_.dropout.rate > 0)
      attention_factors(op_.dropout, q, op_.first_head + head_, sample_, keys, span, factors_);
    differentiate_row(weights_ + i * key_tile, grads_ + i * key_tile, factors_, span, keys.count,
                      lse, delta_[i], static_cast<float>(op_.scale));
  }

  const AttentionBackward& op_;
  const Index sample_, head_, d_;
  const Run queries_;
  float *weights_, *grads_, *delta_, *factors_, *key_room_, *query_room_;
  const Operand q_, dout_;
};

}  // namespace

void CpuOps::run(const AttentionBackward& op) {
  float* const buffer = scratch(QueryTileBackward::floats(op.head_dim));
  const auto attend = [&](const Block& block, Index head, const Run& queries) {
    QueryTileBackward tile(op, block, head, queries, buffer);
    for_each_key_tile(block, queries, op.band, [&](const Run& keys, Coverage coverage) {
      tile.attend(keys, coverage);
      if (progress_) progress_();
    });
  };
  for (const Block& block : op.blocks) {
    if (block.coverage == Coverage::none) continue;
    for (Index head = 0; head < op.heads(); ++head)
      for_each_tile(block.q, query_tile, [&](const Run& queries) { attend(block, head, queries); });
  }
}

}  // namespace cpplan::kernels::cpu
