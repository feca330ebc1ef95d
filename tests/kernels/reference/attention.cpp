// One query of one head against the keys of one block at a time, with the merge of two partial
// softmaxes written out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/reference_backend.hpp"

namespace cpplan::kernels::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Which query of which head against which block.
template <class Op>
struct Query {
  const Op& op;
  const Block& block;
  Index head, i;

  Index row() const { return block.q.row + i; }
  Index position() const { return block.q.first + i * block.q.stride; }
  Index column() const { return head * op.head_dim; }
  Index kv_column() const { return head / (op.q.cols / op.k.cols) * op.head_dim; }
  Index key_row(Index j) const { return block.k.row + j; }
  Index key_position(Index j) const { return block.k.first + j * block.k.stride; }

  bool sees(Index j) const {
    return block.coverage == Coverage::all || op.band.allows(position(), key_position(j));
  }
  double score(Index j) const {
    const double *q = &at(op.q, row(), column()), *k = &at(op.k, key_row(j), kv_column());
    double s = 0;
    for (Index e = 0; e < op.head_dim; ++e) s += q[e] * k[e];
    return s * op.scale;
  }
  /// 0 for a dropped pair, else what the pair is scaled by.
  double dropout_factor(Index j) const {
    const Dropout& d = op.dropout;
    if (d.rate == 0) return 1;
    const Index k = key_position(j);
    const PhiloxCounter words =
        attention_words(d, k, position(), op.first_head + head, d.first_sample + block.sample);
    return dropout_lane(words, k) >= d.threshold() ? d.scale() : 0;
  }
};

/// f(query) for every query of every head of every block.
template <class Op, class F>
void for_each_query(const Op& op, F&& f) {
  for (const Block& block : op.blocks) {
    if (block.coverage == Coverage::none) continue;
    for (Index head = 0; head < op.heads(); ++head)
      for (Index i = 0; i < block.q.count; ++i) f(Query<Op>{op, block, head, i});
  }
}

/// Softmax of one block alone.
struct Partial {
  double lse = -infinity;
  std::vector<double> out;
};

Partial attend(const Query<Attention>& query) {
  const Index keys = query.block.k.count, d = query.op.head_dim;
  std::vector<double> scores(static_cast<std::size_t>(keys), -infinity);
  for (Index j = 0; j < keys; ++j)
    if (query.sees(j)) scores[j] = query.score(j);
  Partial partial{-infinity, std::vector<double>(static_cast<std::size_t>(d), 0.0)};
  const double max = keys ? *std::max_element(scores.begin(), scores.end()) : -infinity;
  if (max == -infinity) return partial;
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - max);
  partial.lse = max + std::log(sum);
  for (Index j = 0; j < keys; ++j) {
    if (scores[j] == -infinity) continue;
    const double p = std::exp(scores[j] - partial.lse) * query.dropout_factor(j);
    const double* const v = &at(query.op.v, query.key_row(j), query.kv_column());
    for (Index e = 0; e < d; ++e) partial.out[e] += p * v[e];
  }
  return partial;
}

/// out' = exp(l - l') out + exp(l_i - l') out_i, l' = log(exp(l) + exp(l_i)); a side of -inf has no
/// weight, whatever its `out` holds.
void merge(const Query<Attention>& query, const Partial& partial) {
  double* const out = &at(query.op.out, query.row(), query.column());
  double& lse = at(query.op.lse, query.row(), query.head);
  const double max = std::max(lse, partial.lse);
  const double merged =
      max == -infinity ? max : max + std::log(std::exp(lse - max) + std::exp(partial.lse - max));
  for (Index e = 0; e < query.op.head_dim; ++e) {
    const double before = lse == -infinity ? 0 : std::exp(lse - merged) * out[e];
    const double added =
        partial.lse == -infinity ? 0 : std::exp(partial.lse - merged) * partial.out[e];
    out[e] = before + added;
  }
  lse = merged;
}

void differentiate_pair(const Query<AttentionBackward>& query, Index j, double delta) {
  const AttentionBackward& op = query.op;
  const Index row = query.row(), column = query.column();
  const Index key = query.key_row(j), kv_column = query.kv_column();
  const double p = std::exp(query.score(j) - at(op.lse, row, query.head));
  const double factor = query.dropout_factor(j);
  const double *q = &at(op.q, row, column), *dout = &at(op.dout, row, column);
  const double *k = &at(op.k, key, kv_column), *v = &at(op.v, key, kv_column);
  double dp = 0;
  for (Index e = 0; e < op.head_dim; ++e) dp += dout[e] * v[e];
  const double ds = p * (dp * factor - delta) * op.scale;
  double *dq = &at(op.dq, row, column), *dk = &at(op.dk, key, kv_column);
  double* const dv = &at(op.dv, key, kv_column);
  for (Index e = 0; e < op.head_dim; ++e) {
    dq[e] += ds * k[e];
    dk[e] += ds * q[e];
    dv[e] += p * factor * dout[e];
  }
}

void differentiate(const Query<AttentionBackward>& query) {
  const AttentionBackward& op = query.op;
  if (at(op.lse, query.row(), query.head) == -infinity) return;
  double delta = 0;
  for (Index e = 0; e < op.head_dim; ++e)
    delta +=
        at(op.out, query.row(), query.column() + e) * at(op.dout, query.row(), query.column() + e);
  for (Index j = 0; j < query.block.k.count; ++j)
    if (query.sees(j)) differentiate_pair(query, j, delta);
}

}  // namespace

void ReferenceOps::run(const Attention& op) {
  for_each_query(op, [](const Query<Attention>& query) { merge(query, attend(query)); });
}

void ReferenceOps::run(const AttentionBackward& op) {
  for_each_query(op, differentiate);
}

}  // namespace cpplan::kernels::reference
