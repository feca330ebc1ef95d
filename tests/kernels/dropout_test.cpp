// The dropout mask is a function of global names and indices: held against Philox written out from
// the definition, lane by lane, and against the rate it promises.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/cases/attention_problem.hpp"

namespace cpplan::kernels::test {
namespace {

const Backend* const backends[] = {&cpu_backend, &reference_backend};

/// 16-bit lane `element % 8` of Philox at {element / 8, c1, c2, c3}.
std::uint32_t lane(std::uint64_t key, Index element, std::uint32_t c1, std::uint32_t c2,
                   std::uint32_t c3) {
  const PhiloxCounter words = philox(key, {static_cast<std::uint32_t>(element / 8), c1, c2, c3});
  const std::uint32_t word = words[static_cast<std::size_t>(element % 8 / 2)];
  return element % 2 == 0 ? word & 0xFFFF : word >> 16;
}

/// What a branch of ones becomes.
Matrix hidden_mask(const Backend& backend, const Matrix& rows, Index h, const Dropout& dropout) {
  Session s(backend);
  const Tensor y = s.poisoned(rows.rows, h);
  s.ops()(DropoutAdd{s.values(filled(rows.rows, h, 0)), s.values(filled(rows.rows, h, 1)), y,
                     s.indices(rows), dropout});
  return s.read(y);
}

}  // namespace

TEST_CASE("dropout: the hidden mask is keyed by feature and index and site and sample") {
  const Dropout dropout{0xABCDEF0123456789ull, 4 * 7 + 2, 30, 0.3};
  const Matrix rows{3, 2, {0, 0, 77777, 1, -1, 0}};
  const double scale = 65536.0 / (65536 - 19661);  // round(0.3 * 65536) = 19661
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    const Matrix mask = hidden_mask(*backend, rows, 300, dropout);
    for (Index j = 0; j < 300; ++j) {
      const bool first = lane(dropout.key, j, 0, 30, 30) >= 19661;
      const bool second = lane(dropout.key, j, 77777, 30, 31) >= 19661;
      CHECK(mask(0, j) == doctest::Approx(first ? scale : 0).epsilon(1e-6));
      CHECK(mask(1, j) == doctest::Approx(second ? scale : 0).epsilon(1e-6));
      CHECK(mask(2, j) == 0);  // padding
    }
  }
}

TEST_CASE("dropout: the mask of a part is that part of the mask") {
  const Dropout dropout{1, 2, 3, 0.5};
  Matrix rows = filled(40, 2, 0);
  for (Index i = 0; i < 40; ++i) rows(i, 0) = static_cast<double>(i);
  const Matrix whole = hidden_mask(cpu_backend, rows, 64, dropout);
  const Matrix part = hidden_mask(cpu_backend, rows_of(rows, 13, 9), 64, dropout);
  CHECK(difference(part, rows_of(whole, 13, 9), 0) == "");
}

TEST_CASE("dropout: the measured keep rate is the rate") {
  Matrix rows = filled(500, 2, 0);
  for (Index i = 0; i < 500; ++i) rows(i, 0) = static_cast<double>(i);
  for (const Backend* backend : backends)
    for (const double rate : {0.1, 0.5, 0.9}) {
      CAPTURE(backend->name);
      const Matrix mask = hidden_mask(*backend, rows, 400, {123, 4, 5, rate});
      double kept = 0, sum = 0;
      for (const double value : mask.values) kept += value > 0, sum += value;
      const double n = 200000, deviation = std::sqrt(rate * (1 - rate) / n);
      CHECK(std::abs(kept / n - (1 - rate)) < 4 * deviation);
      CHECK(sum / n == doctest::Approx(1).epsilon(4 * deviation / (1 - rate)));  // unbiased
    }
}

TEST_CASE("dropout: attention drops by key and query and global head and sample") {
  // One key a query sees with weight 1: out is v where the pair stays, scaled.
  const Dropout dropout{0x1122334455667788ull, 9, 4, 0.4};
  constexpr Index n = 64, first_head = 5;
  const double scale = 65536.0 / (65536 - 26214);  // round(0.4 * 65536) = 26214
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    AttentionProblem problem = dense("", n, sliding_window(1));
    problem.heads = 2, problem.kv_heads = 1, problem.head_dim = 2;
    problem.dropout = dropout, problem.first_head = first_head;
    problem.blocks[0].sample = 1;
    AttentionInputs inputs = random_inputs(problem);
    inputs.v = filled(n, 2, 1);
    Session s(*backend);
    const Attention op = make_attention(s, problem, inputs);
    s.ops()(op);
    const Matrix out = s.read(op.out);
    for (Index q = 0; q < n; ++q)
      for (const Index head : {0, 1}) {
        const auto site = static_cast<std::uint32_t>((9 << 16) + first_head + head);
        const bool stays = lane(dropout.key, q, static_cast<std::uint32_t>(q), site, 5) >= 26214;
        CHECK(out(q, 2 * head) == doctest::Approx(stays ? scale : 0).epsilon(1e-6));
      }
  }
}

TEST_CASE("dropout: lse does not know of dropout") {
  AttentionProblem problem = dense("", 50, causal);
  const AttentionInputs inputs = random_inputs(problem);
  const auto lse = [&](double rate) {
    problem.dropout = {1, 2, 3, rate};
    Session s(cpu_backend);
    const Attention op = make_attention(s, problem, inputs);
    s.ops()(op);
    return s.read(op.lse);
  };
  CHECK(difference(lse(0.5), lse(0), 0) == "");
}

}  // namespace cpplan::kernels::test
