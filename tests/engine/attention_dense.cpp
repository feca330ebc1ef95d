// Attention with no block, rank or op: every pair of tokens of a document, softmax in one go.
#include <cmath>
#include <limits>

#include "base/philox.hpp"
#include "engine/attention_case.hpp"
#include "kernels/dropout.hpp"

namespace cpplan::test {
namespace {

constexpr Index d = AttentionCase::head_dim;

/// Tokens first ... first + count of one document, whose first is number `index` of its sample.
struct Span {
  Index first, count, index, sample;
};

std::vector<Span> spans(const AttentionCase& c) {
  std::vector<Span> out;
  Index first = 0, index = 0, sample = 0;
  for (const auto& document : c.documents) {
    if (document.sample != sample) index = 0, sample = document.sample;
    out.push_back({first, document.tokens, index, sample});
    first += document.tokens, index += document.tokens;
  }
  return out;
}

double dot(const double* a, const double* b) {
  double sum = 0;
  for (Index e = 0; e < d; ++e) sum += a[e] * b[e];
  return sum;
}

void add(double* y, double factor, const double* x) {
  for (Index e = 0; e < d; ++e) y[e] += factor * x[e];
}

/// One query of one head: its weights, and the gradients that flow through them.
class Query {
 public:
  Query(const AttentionCase& c, const AttentionInput& in, const Span& span, Index head, Index i)
      : settings_(c.settings()),
        in_(in),
        span_(span),
        heads_(c.heads),
        kv_heads_(c.kv_heads),
        head_(head),
        i_(i),
        weights_(static_cast<std::size_t>(span.count)) {
    double greatest = -infinity, sum = 0;
    for (Index j = 0; j < span.count; ++j) greatest = std::max(greatest, score(j));
    if (greatest == -infinity) return;
    for (Index j = 0; j < span.count; ++j) sum += std::exp(score(j) - greatest);
    lse_ = greatest + std::log(sum);
    for (Index j = 0; j < span.count; ++j) weights_[j] = std::exp(score(j) - lse_);
  }

  void attend(AttentionResult& r) const {
    r.lse[(span_.first + i_) * heads_ + head_] = lse_;
    for (Index j = 0; j < span_.count; ++j)
      add(&r.out[query()], weights_[j] * kept(j), &in_.v[key(j)]);
  }

  /// Through the softmax: ds = p (dp - sum of p dp).
  void differentiate(AttentionResult& r) const {
    double mean = 0;
    for (Index j = 0; j < span_.count; ++j) mean += weights_[j] * weight_gradient(j);
    for (Index j = 0; j < span_.count; ++j) {
      const double ds = settings_.scale * weights_[j] * (weight_gradient(j) - mean);
      add(&r.dq[query()], ds, &in_.k[key(j)]);
      add(&r.dk[key(j)], ds, &in_.q[query()]);
      add(&r.dv[key(j)], weights_[j] * kept(j), &in_.dout[query()]);
    }
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// Where this query begins in a matrix of queries, and key j in one of keys.
  std::size_t query() const { return ((span_.first + i_) * heads_ + head_) * d; }
  std::size_t key(Index j) const {
    const Index kv_head = head_ / (heads_ / kv_heads_);
    return ((span_.first + j) * kv_heads_ + kv_head) * d;
  }
  double score(Index j) const {
    if (!settings_.band.allows(i_, j)) return -infinity;
    return settings_.scale * dot(&in_.q[query()], &in_.k[key(j)]);
  }
  double weight_gradient(Index j) const {
    return kept(j) * dot(&in_.dout[query()], &in_.v[key(j)]);
  }
  double kept(Index j) const {
    const kernels::Dropout& dropout = settings_.dropout;
    if (dropout.rate == 0) return 1;
    const Index q = span_.index + i_, k = span_.index + j;
    const auto words = kernels::attention_words(dropout, k, q, settings_.first_head + head_,
                                                dropout.first_sample + span_.sample);
    return kernels::dropout_lane(words, k) >= dropout.threshold() ? dropout.scale() : 0;
  }

  const engine::AttentionSettings settings_;
  const AttentionInput& in_;
  const Span& span_;
  Index heads_, kv_heads_, head_, i_;
  std::vector<double> weights_;
  double lse_ = -infinity;
};

std::vector<double> drawn(std::uint64_t key, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i)
    values.push_back(philox(key, {static_cast<std::uint32_t>(i), 0, 0, 0})[0] / 0x1p31 - 1);
  return values;
}

Index tokens(const AttentionCase& c) {
  Index sum = 0;
  for (const auto& document : c.documents) sum += document.tokens;
  return sum;
}

}  // namespace

AttentionInput attention_input(const AttentionCase& c) {
  const Index wide = tokens(c) * c.heads * d, narrow = tokens(c) * c.kv_heads * d;
  return {drawn(1, wide), drawn(2, narrow), drawn(3, narrow), drawn(4, wide)};
}

AttentionResult dense_attention(const AttentionCase& c, const AttentionInput& in) {
  AttentionResult r{.out = std::vector<double>(in.q.size()),
                    .lse = std::vector<double>(in.q.size() / d),
                    .dq = std::vector<double>(in.q.size()),
                    .dk = std::vector<double>(in.k.size()),
                    .dv = std::vector<double>(in.k.size())};
  for (const Span& span : spans(c)) {
    for (Index head = 0; head < c.heads; ++head) {
      for (Index i = 0; i < span.count; ++i) {
        const Query query(c, in, span, head, i);
        query.attend(r);
        query.differentiate(r);
      }
    }
  }
  return r;
}

}  // namespace cpplan::test
