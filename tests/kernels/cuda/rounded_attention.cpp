#include "kernels/cuda/rounded_attention.hpp"

#include <cmath>
#include <limits>

#include "kernels/bf16.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double to_bf16(double x) {
  return static_cast<double>(static_cast<float>(Bf16(static_cast<float>(x))));
}

/// One query head: what each pair is to it, and the products of the formula.
class Head {
 public:
  Head(const AttentionProblem& p, const AttentionInputs& in, Index head, Rounding rounding)
      : p_(p),
        in_(in),
        head_(head),
        kv_head_(head / (p.heads / p.kv_heads)),
        rounding_(rounding),
        scale_(1 / std::sqrt(static_cast<double>(p.head_dim))),
        keep_(filled(p.queries, p.keys, -1)),
        weights_(filled(p.queries, p.keys, 0)) {
    for (const Block& block : p.blocks) enter(block);
  }

  void attend(AttentionResults& r) {
    for (Index i = 0; i < p_.queries; ++i) attend_row(r, i);
  }
  void differentiate(AttentionResults& r) const {
    for (Index i = 0; i < p_.queries; ++i) differentiate_row(r, i);
  }

 private:
  bool sees(Index i, Index j) const { return keep_(i, j) >= 0; }
  double rounded(double x) const { return rounding_ == Rounding::bf16 ? to_bf16(x) : x; }
  Index column(Index d) const { return head_ * p_.head_dim + d; }
  Index kv_column(Index d) const { return kv_head_ * p_.head_dim + d; }

  void enter(const Block& block) {
    for (Index i = 0; i < block.q.count; ++i)
      for (Index j = 0; j < block.k.count; ++j) {
        const Index q = block.q.first + i * block.q.stride, k = block.k.first + j * block.k.stride;
        if (p_.band.allows(q, k))
          keep_(block.q.row + i, block.k.row + j) = factor(q, k, block.sample);
      }
  }
  double factor(Index q, Index k, Index sample) const {
    const Dropout& d = p_.dropout;
    if (d.rate == 0) return 1;
    const auto words = attention_words(d, k, q, p_.first_head + head_, d.first_sample + sample);
    return dropout_lane(words, k) >= d.threshold() ? d.scale() : 0;
  }
  double dot(const Matrix& a, Index i, const Matrix& b, Index j) const {
    double sum = 0;
    for (Index d = 0; d < p_.head_dim; ++d) sum += a(i, column(d)) * b(j, kv_column(d));
    return sum;
  }

  void attend_row(AttentionResults& r, Index i) {
    double greatest = -infinity, total = 0;
    for (Index j = 0; j < p_.keys; ++j)
      if (sees(i, j))
        greatest = std::max(greatest, weights_(i, j) = rounded(scale_ * dot(in_.q, i, in_.k, j)));
    if (greatest == -infinity) return;
    for (Index j = 0; j < p_.keys; ++j)
      if (sees(i, j)) total += weights_(i, j) = std::exp(weights_(i, j) - greatest);
    r.lse(i, head_) = greatest + std::log(total);
    for (Index j = 0; j < p_.keys; ++j) {
      if (!sees(i, j)) continue;
      weights_(i, j) = rounded(weights_(i, j) / total);
      for (Index d = 0; d < p_.head_dim; ++d)
        r.out(i, column(d)) += weights_(i, j) * keep_(i, j) * in_.v(j, kv_column(d));
    }
    for (Index d = 0; d < p_.head_dim; ++d) r.out(i, column(d)) = rounded(r.out(i, column(d)));
  }

  void differentiate_row(AttentionResults& r, Index i) const {
    double delta = 0;
    for (Index d = 0; d < p_.head_dim; ++d) delta += r.out(i, column(d)) * in_.dout(i, column(d));
    for (Index j = 0; j < p_.keys; ++j) {
      if (!sees(i, j)) continue;
      const double weight = rounded(weights_(i, j) * keep_(i, j));
      const double dp = rounded(dot(in_.dout, i, in_.v, j)) * keep_(i, j);
      const double ds = rounded(weights_(i, j) * (dp - delta)) * scale_;
      for (Index d = 0; d < p_.head_dim; ++d) {
        r.dq(i, column(d)) += ds * in_.k(j, kv_column(d));
        r.dk(j, kv_column(d)) += ds * in_.q(i, column(d));
        r.dv(j, kv_column(d)) += weight * in_.dout(i, column(d));
      }
    }
  }

  const AttentionProblem& p_;
  const AttentionInputs& in_;
  Index head_, kv_head_;
  Rounding rounding_;
  double scale_;
  Matrix keep_;     // of a pair: its dropout factor, or -1 where it is masked
  Matrix weights_;  // scores, then probabilities
};

Matrix all_to_bf16(Matrix m) {
  for (double& value : m.values) value = to_bf16(value);
  return m;
}

}  // namespace

AttentionInputs bf16_inputs(const AttentionProblem& problem) {
  const AttentionInputs inputs = random_inputs(problem);
  return {all_to_bf16(inputs.q), all_to_bf16(inputs.k), all_to_bf16(inputs.v),
          all_to_bf16(inputs.dout)};
}

AttentionResults attention_by_formula(const AttentionProblem& p, const AttentionInputs& inputs,
                                      Rounding rounding) {
  const Index cols = p.heads * p.head_dim, kv_cols = p.kv_heads * p.head_dim;
  AttentionResults r{filled(p.queries, cols, 0), filled(p.queries, p.heads, -infinity),
                     filled(p.queries, cols, 0), filled(p.keys, kv_cols, 0),
                     filled(p.keys, kv_cols, 0)};
  for (Index head = 0; head < p.heads; ++head) {
    Head of_problem(p, inputs, head, rounding);
    of_problem.attend(r);
    of_problem.differentiate(r);
  }
  if (rounding == Rounding::bf16)
    for (Matrix* gradient : {&r.dq, &r.dk, &r.dv}) *gradient = all_to_bf16(*gradient);
  return r;
}

}  // namespace cpplan::kernels::test
