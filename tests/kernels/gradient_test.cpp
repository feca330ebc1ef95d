// Every backward op of the reference is the derivative of its forward op, by finite differences in
// fp64. Backends are held against the reference (backends_test.cpp), so this holds for them too.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/cases/attention_problem.hpp"
#include "kernels/rope.hpp"
#include "kernels/support/gradient.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr double tolerance = 1e-7;  // relative; gradient.hpp gives the error of the differences

/// Checks d (dy . forward(x)) / dx against what backward adds to zero.
using Forward = std::function<Matrix(Session&, const Matrix& x)>;

void check_gradient(const Forward& forward, const Matrix& x, const Matrix& dy,
                    const Matrix& gradient) {
  const auto loss = [&](const Matrix& at) {
    Session s(reference_backend);
    return inner_product(forward(s, at), dy);
  };
  CHECK(difference(gradient, numeric_gradient(loss, x), tolerance) == "");
}

Matrix zeros(const Matrix& like) {
  return filled(like.rows, like.cols, 0);
}

Matrix normalise(Session& s, const Matrix& x, const Matrix& weight) {
  const Tensor y = s.poisoned(x.rows, x.cols);
  s.ops()(RmsNorm{s.values(x), s.values(weight), y, s.poisoned(x.rows, 1), 1e-2});
  return s.read(y);
}

}  // namespace

TEST_CASE("gradient: rms_norm_backward") {
  const Matrix x = random_matrix(5, 7, 1), weight = random_matrix(1, 7, 2);
  const Matrix dy = random_matrix(5, 7, 3);
  Session s(reference_backend);
  const Tensor rstd = s.poisoned(5, 1);
  s.ops()(RmsNorm{s.values(x), s.values(weight), s.poisoned(5, 7), rstd, 1e-2});
  const RmsNormBackward op{s.values(x),  s.values(weight),   rstd,
                           s.values(dy), s.values(zeros(x)), s.values(zeros(weight))};
  s.ops()(op);
  check_gradient([&](Session& at, const Matrix& m) { return normalise(at, m, weight); }, x, dy,
                 s.read(op.dx));
  check_gradient([&](Session& at, const Matrix& m) { return normalise(at, x, m); }, weight, dy,
                 s.read(op.dweight));
}

TEST_CASE("gradient: rope inverse is the transpose of rope") {
  const Matrix x = random_matrix(4, 12, 1), dy = random_matrix(4, 12, 2);
  const Matrix positions = random_indices(4, 1, 0, 100, 3);
  Session s(reference_backend);
  const Tensor dx = s.values(dy);
  const auto frequencies = rope_frequencies(6, 10000);
  s.ops()(Rope{dx, s.indices(positions), frequencies, 1.25, true});
  check_gradient(
      [&](Session& at, const Matrix& m) {
        const Tensor y = at.values(m);
        at.ops()(Rope{y, at.indices(positions), frequencies, 1.25, false});
        return at.read(y);
      },
      x, dy, s.read(dx));
}

TEST_CASE("gradient: swiglu_backward") {
  const Matrix x = scaled(random_matrix(3, 10, 1), 4), dy = random_matrix(3, 5, 2);
  Session s(reference_backend);
  const Tensor dx = s.poisoned(3, 10);
  s.ops()(SwiGluBackward{s.values(x), s.values(dy), dx});
  check_gradient(
      [&](Session& at, const Matrix& m) {
        const Tensor y = at.poisoned(3, 5);
        at.ops()(SwiGlu{at.values(m), y});
        return at.read(y);
      },
      x, dy, s.read(dx));
}

TEST_CASE("gradient: dropout_backward") {
  const Matrix x = random_matrix(4, 20, 1), branch = random_matrix(4, 20, 2);
  const Matrix dy = random_matrix(4, 20, 3), rows{4, 2, {0, 0, 1, 0, -1, 0, 3, 1}};
  const Dropout dropout{99, 5, 2, 0.4};
  Session s(reference_backend);
  const Tensor dbranch = s.poisoned(4, 20);
  s.ops()(DropoutBackward{s.values(dy), dbranch, s.indices(rows), dropout});
  check_gradient(
      [&](Session& at, const Matrix& m) {
        const Tensor y = at.poisoned(4, 20);
        at.ops()(DropoutAdd{at.values(x), at.values(m), y, at.indices(rows), dropout});
        return at.read(y);
      },
      branch, dy, s.read(dbranch));
}

TEST_CASE("gradient: embed_backward") {
  const Matrix weight = random_matrix(4, 3, 1), dy = random_matrix(9, 3, 2);
  const Matrix tokens = random_indices(9, 1, 0, 8, 3);
  Session s(reference_backend);
  const Tensor dweight = s.values(zeros(weight));
  s.ops()(EmbedBackward{s.indices(tokens), s.values(dy), dweight, 2});
  check_gradient(
      [&](Session& at, const Matrix& m) {
        const Tensor y = at.poisoned(9, 3);
        at.ops()(Embed{at.indices(tokens), at.values(m), y, 2});
        return at.read(y);
      },
      weight, dy, s.read(dweight));
}

TEST_CASE("gradient: cross_entropy_backward") {
  const Matrix logits = scaled(random_matrix(5, 9, 1), 4), labels{5, 1, {2, -100, 0, 6, 3}};
  constexpr Index valid = 7;
  const auto forward = [&](Session& s, const Matrix& x, Tensor& max, Tensor& stats) {
    const Tensor at = s.values(x);
    max = s.poisoned(5, 1), stats = s.poisoned(5, 2);
    s.ops()(RowMax{at, max, valid});
    s.ops()(SumExp{at, max, s.indices(labels), stats, 0, valid});
    return at;
  };
  Session s(reference_backend);
  Tensor max, stats;
  const Tensor gradient = forward(s, logits, max, stats);
  s.ops()(CrossEntropyBackward{gradient, max, stats, s.indices(labels), 0, valid});
  check_gradient(
      [&](Session& at, const Matrix& x) {
        Tensor row_max, row_stats;
        forward(at, x, row_max, row_stats);
        const Tensor sum = at.sums(filled(1, 2, 0));
        at.ops()(LossSum{row_max, row_stats, at.indices(labels), sum});
        return cols_of(at.read(sum), 0, 1);
      },
      logits, filled(1, 1, 1), s.read(gradient));
}

namespace {

struct AttentionGradient {
  AttentionProblem problem;
  AttentionInputs inputs = random_inputs(problem);

  Matrix out(Session& s, const AttentionInputs& at) const {
    const Attention op = make_attention(s, problem, at);
    s.ops()(op);
    return s.read(op.out);
  }

  void check() const {
    Session s(reference_backend);
    const Attention forward = make_attention(s, problem, inputs);
    s.ops()(forward);
    const AttentionBackward op = make_backward(s, forward, inputs);
    s.ops()(op);
    check_one(&AttentionInputs::q, s.read(op.dq));
    check_one(&AttentionInputs::k, s.read(op.dk));
    check_one(&AttentionInputs::v, s.read(op.dv));
  }

  void check_one(Matrix AttentionInputs::*member, const Matrix& gradient) const {
    check_gradient(
        [&](Session& s, const Matrix& x) {
          AttentionInputs at = inputs;
          at.*member = x;
          return out(s, at);
        },
        inputs.*member, inputs.dout, gradient);
  }
};

}  // namespace

TEST_CASE("gradient: attention_backward") {
  AttentionProblem problem = dense("", 6, causal);
  problem.head_dim = 3;
  SUBCASE("causal") {}
  SUBCASE("window") {
    problem.band = sliding_window(2);
  }
  SUBCASE("bidirectional in two blocks") {
    problem.band = bidirectional;
    problem.blocks = {block(rows(0, 6, 0), rows(0, 2, 0), bidirectional),
                      block(rows(0, 6, 0), rows(2, 4, 2), bidirectional)};
  }
  SUBCASE("grouped heads with dropout") {
    problem.heads = 4, problem.kv_heads = 2, problem.first_head = 4;
    problem.dropout = {7, 1, 3, 0.3};
  }
  AttentionGradient{problem}.check();
}

}  // namespace cpplan::kernels::test
