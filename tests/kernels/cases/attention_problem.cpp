#include "kernels/cases/attention_problem.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace cpplan::kernels::test {

Run rows(Index row, Index count, Index first, Index stride) {
  return {row, count, first, stride};
}

Block block(Run q, Run k, Band band, Index sample) {
  return {q, k, coverage(q, k, band), sample};
}

AttentionProblem dense(std::string name, Index n, Band band) {
  AttentionProblem problem{std::move(name), n, n};
  problem.band = band;
  if (n > 0) problem.blocks = {block(rows(0, n, 0), rows(0, n, 0), band)};
  return problem;
}

AttentionInputs random_inputs(const AttentionProblem& p) {
  const Index cols = p.heads * p.head_dim, kv_cols = p.kv_heads * p.head_dim;
  return {scaled(random_matrix(p.queries, cols, 1), 2),
          scaled(random_matrix(p.keys, kv_cols, 2), 2), random_matrix(p.keys, kv_cols, 3),
          random_matrix(p.queries, cols, 4)};
}

Attention make_attention(Session& s, const AttentionProblem& p, const AttentionInputs& inputs) {
  return {
      .q = s.values(inputs.q),
      .k = s.values(inputs.k),
      .v = s.values(inputs.v),
      .out = s.poisoned_accumulator(p.queries, p.heads * p.head_dim),
      .lse = s.accumulated(filled(p.queries, p.heads, -std::numeric_limits<double>::infinity())),
      .blocks = p.blocks,
      .band = p.band,
      .head_dim = p.head_dim,
      .first_head = p.first_head,
      .scale = 1 / std::sqrt(static_cast<double>(p.head_dim)),
      .dropout = p.dropout};
}

AttentionBackward make_backward(Session& s, const Attention& f, const AttentionInputs& inputs,
                                double start) {
  return {.q = f.q,
          .k = f.k,
          .v = f.v,
          .out = s.as_values(f.out),
          .dout = s.values(inputs.dout),
          .lse = f.lse,
          .dq = s.accumulated(filled(f.q.rows, f.q.cols, start)),
          .dk = s.accumulated(filled(f.k.rows, f.k.cols, start)),
          .dv = s.accumulated(filled(f.v.rows, f.v.cols, start)),
          .blocks = f.blocks,
          .band = f.band,
          .head_dim = f.head_dim,
          .first_head = f.first_head,
          .scale = f.scale,
          .dropout = f.dropout};
}

}  // namespace cpplan::kernels::test
