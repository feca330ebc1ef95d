// What context parallelism asks of attention: however the keys are cut, and in whatever order the
// parts come, the result is that of one dense call; and a row without keys is (0, -inf), never NaN.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cases/attention_problem.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Results {
  Matrix out, lse, dq, dk, dv;
};

Results run(const Backend& backend, const AttentionProblem& problem,
            const AttentionInputs& inputs) {
  Session s(backend);
  const Attention forward = make_attention(s, problem, inputs);
  s.ops()(forward);
  const AttentionBackward backward = make_backward(s, forward, inputs);
  s.ops()(backward);
  return {s.read(forward.out), s.read(forward.lse), s.read(backward.dq), s.read(backward.dk),
          s.read(backward.dv)};
}

/// Two orders of summation apart, in the backend's own precision.
double rounding(const Backend& backend) {
  return backend.real == DType::f64 ? 1e-13 : 5e-6;
}

void check_equal(const Results& actual, const Results& expected, double tolerance) {
  CHECK(difference(actual.out, expected.out, tolerance) == "");
  CHECK(difference(actual.lse, expected.lse, tolerance) == "");
  CHECK(difference(actual.dq, expected.dq, tolerance) == "");
  CHECK(difference(actual.dk, expected.dk, tolerance) == "");
  CHECK(difference(actual.dv, expected.dv, tolerance) == "");
}

const Backend* const backends[] = {&cpu_backend, &reference_backend};

AttentionProblem with_blocks(AttentionProblem problem, std::vector<Block> blocks) {
  problem.blocks = std::move(blocks);
  return problem;
}

bool all_are(const Matrix& m, double value) {
  return std::all_of(m.values.begin(), m.values.end(), [&](double x) { return x == value; });
}

bool all_nan(const Matrix& m) {
  return std::all_of(m.values.begin(), m.values.end(), [](double x) { return std::isnan(x); });
}

}  // namespace

TEST_CASE("attention: blocks merge to the dense result in any order") {
  for (const Backend* backend : backends)
    for (const Band band : {causal, bidirectional, sliding_window(50)})
      for (const double rate : {0.0, 0.3}) {
        CAPTURE(backend->name);
        CAPTURE(rate);
        AttentionProblem whole = dense("", 200, band);
        whole.heads = 2, whole.dropout = {5, 1, 0, rate};
        const AttentionInputs inputs = random_inputs(whole);
        const Results expected = run(*backend, whole, inputs);
        const Run q = rows(0, 200, 0);
        std::vector<Block> parts = {block(q, rows(0, 3, 0), band), block(q, rows(3, 90, 3), band),
                                    block(q, rows(93, 107, 93), band)};
        std::vector<int> order = {0, 1, 2};
        do {
          const std::vector<Block> blocks = {parts[order[0]], parts[order[1]], parts[order[2]]};
          check_equal(run(*backend, with_blocks(whole, blocks), inputs), expected,
                      rounding(*backend));
        } while (std::next_permutation(order.begin(), order.end()));
      }
}

TEST_CASE("attention: two calls merge as two blocks of one call do") {
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    const AttentionProblem whole = dense("", 150, causal);
    const AttentionInputs inputs = random_inputs(whole);
    const Block parts[] = {block(rows(0, 150, 0), rows(80, 70, 80), causal),
                           block(rows(0, 150, 0), rows(0, 80, 0), causal)};
    Session s(*backend);
    Attention op = make_attention(s, whole, inputs);
    for (const Block& part : parts) {
      op.blocks = {&part, 1};
      s.ops()(op);
    }
    const Results expected = run(*backend, whole, inputs);
    CHECK(difference(s.read(op.out), expected.out, rounding(*backend)) == "");
    CHECK(difference(s.read(op.lse), expected.lse, rounding(*backend)) == "");
  }
}

namespace {

/// Position of row i of rank `rank` in a head-tail layout of `ranks` with chunks of h.
Index head_tail(Index rank, Index ranks, Index h, Index i) {
  return i < h ? rank * h + i : (2 * ranks - 1 - rank) * h + (i - h);
}

Matrix local_rows(const Matrix& global, Index rank, Index ranks, Index h) {
  Matrix local = filled(2 * h, global.cols, 0);
  for (Index i = 0; i < 2 * h; ++i)
    for (Index j = 0; j < global.cols; ++j) local(i, j) = global(head_tail(rank, ranks, h, i), j);
  return local;
}

void add_local_rows(Matrix& global, const Matrix& local, Index rank, Index ranks, Index h) {
  for (Index i = 0; i < 2 * h; ++i)
    for (Index j = 0; j < global.cols; ++j) global(head_tail(rank, ranks, h, i), j) += local(i, j);
}

/// Blocks of the two chunks of `q_rank` against the two chunks of `k_rank`.
std::vector<Block> ring_step(Index q_rank, Index k_rank, Index ranks, Index h, Band band) {
  std::vector<Block> blocks;
  for (const Index q : {Index{0}, h})
    for (const Index k : {Index{0}, h}) {
      const Block b = block(rows(q, h, head_tail(q_rank, ranks, h, q)),
                            rows(k, h, head_tail(k_rank, ranks, h, k)), band);
      if (b.coverage != Coverage::none) blocks.push_back(b);
    }
  return blocks;
}

/// A whole sequence cut head-tail over a ring; results are gathered in sequence order.
struct Ring {
  Index ranks, h;
  AttentionProblem whole;
  const Backend& backend;
  std::vector<AttentionInputs> local{};
  Results sum{};

  void split(const AttentionInputs& global) {
    for (Index r = 0; r < ranks; ++r)
      local.push_back({local_rows(global.q, r, ranks, h), local_rows(global.k, r, ranks, h),
                       local_rows(global.v, r, ranks, h), local_rows(global.dout, r, ranks, h)});
    const auto zeros = [](const Matrix& like) { return filled(like.rows, like.cols, 0); };
    sum = {zeros(global.q), filled(whole.queries, whole.heads, 0), zeros(global.q), zeros(global.k),
           zeros(global.v)};
  }

  /// The keys that rank r holds at a step, and the blocks that they give.
  std::vector<Block> receive(Session& s, Attention& op, Index r, Index owner) const {
    op.k = s.values(local[owner].k), op.v = s.values(local[owner].v);
    return ring_step(r, owner, ranks, h, whole.band);
  }

  void run_rank(Index r) {
    Session s(backend);
    AttentionProblem part = whole;
    part.queries = part.keys = 2 * h;
    Attention op = make_attention(s, part, local[r]);
    forward(s, op, r);
    backward(s, op, r);
  }

  void forward(Session& s, Attention& op, Index r) {
    for (Index step = 0; step < ranks; ++step) {
      const std::vector<Block> blocks = receive(s, op, r, (r - step + ranks) % ranks);
      op.blocks = blocks;
      s.ops()(op);
    }
    add_local_rows(sum.out, s.read(op.out), r, ranks, h);
    add_local_rows(sum.lse, s.read(op.lse), r, ranks, h);
  }

  void backward(Session& s, Attention& op, Index r) {
    const Tensor dq = s.accumulated(filled(op.q.rows, op.q.cols, 0));
    for (Index owner = 0; owner < ranks; ++owner) {
      const std::vector<Block> blocks = receive(s, op, r, owner);
      op.blocks = blocks;
      AttentionBackward step = make_backward(s, op, local[r]);
      step.dq = dq;
      s.ops()(step);
      add_local_rows(sum.dk, s.read(step.dk), owner, ranks, h);
      add_local_rows(sum.dv, s.read(step.dv), owner, ranks, h);
    }
    add_local_rows(sum.dq, s.read(dq), r, ranks, h);
  }
};

}  // namespace

TEST_CASE("attention: a head-tail ring of three equals one rank") {
  constexpr Index ranks = 3, h = 23;
  for (const Backend* backend : backends)
    for (const Band band : {causal, bidirectional, sliding_window(30)}) {
      CAPTURE(backend->name);
      AttentionProblem whole = dense("", 2 * ranks * h, band);
      whole.heads = 4, whole.kv_heads = 2, whole.dropout = {5, 1, 0, 0.2};
      const AttentionInputs global = random_inputs(whole);
      Ring ring{ranks, h, whole, *backend};
      ring.split(global);
      for (Index r = 0; r < ranks; ++r) ring.run_rank(r);
      check_equal(ring.sum, run(*backend, whole, global), rounding(*backend));
    }
}

TEST_CASE("attention: a striped layout equals one rank with dropout") {
  constexpr Index ranks = 3, local = 40;
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    AttentionProblem whole = dense("", ranks * local, causal);
    whole.dropout = {5, 1, 0, 0.2};
    const AttentionInputs inputs = random_inputs(whole);
    const Results expected = run(*backend, whole, inputs);
    // the same tokens, stored rank by rank: row r * local + i holds position i * ranks + r
    const auto striped = [&](const Matrix& m) {
      Matrix stored = m;
      for (Index row = 0; row < m.rows; ++row)
        for (Index j = 0; j < m.cols; ++j) stored(row, j) = m(row % local * ranks + row / local, j);
      return stored;
    };
    std::vector<Block> blocks;
    for (Index q = 0; q < ranks; ++q)
      for (Index k = 0; k < ranks; ++k)
        blocks.push_back(
            block(rows(q * local, local, q, ranks), rows(k * local, local, k, ranks), causal));
    const AttentionInputs stored{striped(inputs.q), striped(inputs.k), striped(inputs.v),
                                 striped(inputs.dout)};
    const Results rearranged{striped(expected.out), striped(expected.lse), striped(expected.dq),
                             striped(expected.dk), striped(expected.dv)};
    check_equal(run(*backend, with_blocks(whole, blocks), stored), rearranged, rounding(*backend));
  }
}

TEST_CASE("attention: packed documents equal documents alone") {
  const std::pair<Index, Index> documents[] = {{0, 70}, {72, 1}, {80, 130}};  // first row, tokens
  constexpr Index padded = 216;
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    AttentionProblem packed{"", padded, padded};
    for (const auto& [row, n] : documents)
      packed.blocks.push_back(block(rows(row, n, 0), rows(row, n, 0), causal));
    const AttentionInputs inputs = random_inputs(packed);
    const Results together = run(*backend, packed, inputs);
    for (const auto& [row, n] : documents) {
      const auto part = [row = row, n = n](const Matrix& m) { return rows_of(m, row, n); };
      const Results alone =
          run(*backend, dense("", n, causal),
              {part(inputs.q), part(inputs.k), part(inputs.v), part(inputs.dout)});
      check_equal({part(together.out), part(together.lse), part(together.dq), part(together.dk),
                   part(together.dv)},
                  alone, rounding(*backend));
    }
    for (const Index padding : {70, 71, 73, 210}) {
      CHECK(all_nan(rows_of(together.out, padding, 1)));  // in no block: as it was before
      CHECK(all_are(rows_of(together.lse, padding, 1), -infinity));
      for (const Matrix* gradient : {&together.dq, &together.dk, &together.dv})
        CHECK(all_are(rows_of(*gradient, padding, 1), 0));
    }
  }
}

TEST_CASE("attention: a row that sees no key is zero and has no gradient") {
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    // queries 0 ... 7 against keys 4 ... 7: four rows are fully masked
    AttentionProblem problem{"", 8, 4};
    problem.blocks = {block(rows(0, 8, 0), rows(0, 4, 4), causal)};
    problem.dropout.rate = 0.1;
    const Results r = run(*backend, problem, random_inputs(problem));
    CHECK(all_are(rows_of(r.out, 0, 4), 0));
    CHECK(all_are(rows_of(r.lse, 0, 4), -infinity));
    CHECK(all_are(rows_of(r.dq, 0, 4), 0));
    for (const Matrix* m : {&r.out, &r.dq, &r.dk, &r.dv})
      for (const double value : m->values) CHECK(std::isfinite(value));
    CHECK_FALSE(all_are(rows_of(r.out, 4, 4), 0));
  }
}

TEST_CASE("attention: a row with lse -inf has no weights even where the mask lets it see") {
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    const AttentionProblem problem = dense("", 6, causal);
    const AttentionInputs inputs = random_inputs(problem);
    Session s(*backend);
    const Attention forward = make_attention(s, problem, inputs);  // never run: lse is -inf
    s.ops()(Fill{forward.out, 0});
    const AttentionBackward op = make_backward(s, forward, inputs);
    s.ops()(op);
    for (const Tensor& gradient : {op.dq, op.dk, op.dv}) CHECK(all_are(s.read(gradient), 0));
  }
}

TEST_CASE("attention: grouped heads equal their keys repeated") {
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    AttentionProblem grouped = dense("", 40, causal);
    grouped.heads = 4, grouped.kv_heads = 2;
    const AttentionInputs inputs = random_inputs(grouped);
    const Results expected = run(*backend, grouped, inputs);
    AttentionProblem one_head = dense("", 40, causal);
    for (Index head = 0; head < 4; ++head) {
      const Index d = grouped.head_dim;
      const auto of_head = [&](const Matrix& m) { return cols_of(m, head * d, d); };
      const auto of_group = [&](const Matrix& m) { return cols_of(m, head / 2 * d, d); };
      const Results alone =
          run(*backend, one_head,
              {of_head(inputs.q), of_group(inputs.k), of_group(inputs.v), of_head(inputs.dout)});
      CHECK(difference(of_head(expected.out), alone.out, rounding(*backend)) == "");
      CHECK(difference(of_head(expected.dq), alone.dq, rounding(*backend)) == "");
    }
  }
}

TEST_CASE("attention: what lies outside the window has no influence") {
  for (const Backend* backend : backends) {
    CAPTURE(backend->name);
    const AttentionProblem problem = dense("", 160, sliding_window(9));
    AttentionInputs inputs = random_inputs(problem);
    const Matrix before = run(*backend, problem, inputs).out;
    for (Index j = 0; j < inputs.k.cols; ++j) inputs.k(0, j) += 1, inputs.v(0, j) += 1;
    const Matrix after = run(*backend, problem, inputs).out;
    CHECK(difference(rows_of(after, 9, 151), rows_of(before, 9, 151), 0) == "");
    for (Index i = 0; i < 9; ++i)
      CHECK(difference(rows_of(after, i, 1), rows_of(before, i, 1), 1e-3) != "");
  }
}

}  // namespace cpplan::kernels::test
