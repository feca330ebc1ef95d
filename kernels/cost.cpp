// What each op costs. FLOPs: an addition, a multiplication, a comparison, exp, log, sqrt and a
// division are one each. Bytes: every operand crosses memory once; what is added to is read and
// written. Attention counts what the formulas of the field count (two products forward, five
// backward), over the pairs that the mask allows.
#include "kernels/ops.hpp"

namespace cpplan::kernels {
namespace {

/// Bytes of `rows` rows of a tensor.
Bytes rows_of(const Tensor& t, Index rows) {
  return {rows * t.cols * size_of(t.dtype)};
}

/// Bytes of the leading `cols` columns of a tensor.
Bytes cols_of(const Tensor& t, Index cols) {
  return {t.rows * cols * size_of(t.dtype)};
}

template <class... T>
Bytes sum(const T&... tensors) {
  return (tensors.bytes() + ...);
}

Index allowed_pairs(const Block& block, Band band) {
  switch (block.coverage) {
    case Coverage::none:
      return 0;
    case Coverage::all:
      return block.q.count * block.k.count;
    case Coverage::partial:
      return pairs(block.q, block.k, band);
  }
  return 0;
}

struct Extent {
  Index pairs = 0;
  Index queries = 0, keys = 0;  // rows that pass through memory
};

/// Equal query runs stand together and are read once; keys are read again for each block.
Extent extent(std::span<const Block> blocks, Band band) {
  Extent sum;
  const Run* last = nullptr;
  for (const Block& block : blocks) {
    if (block.coverage == Coverage::none) continue;
    sum.pairs += allowed_pairs(block, band);
    sum.keys += block.k.count;
    if (!last || !(*last == block.q)) sum.queries += block.q.count;
    last = &block.q;
  }
  return sum;
}

}  // namespace

Cost Gemm::cost() const {
  const Bytes before = accumulate ? c.bytes() : Bytes{};
  return {{2 * c.rows * c.cols * k()}, sum(a, b) + before, c.bytes(), k()};
}

Cost RmsNorm::cost() const {
  return {{4 * x.elements()}, sum(x, weight), sum(y, rstd)};  // x^2, +; * rstd, * weight
}

Cost RmsNormBackward::cost() const {
  // dy w, x, +; x s, -, rstd, +; dy x, rstd, +
  return {{10 * x.elements()}, sum(x, weight, rstd, dy, dx, dweight), sum(dx, dweight)};
}

Cost Rope::cost() const {
  return {{3 * x.elements()}, sum(x, positions), x.bytes()};  // four products, two sums a pair
}

Cost Attention::cost() const {
  const auto [allowed, queries, keys] = extent(blocks, band);
  const Bytes state = rows_of(out, queries) + rows_of(lse, queries);
  const Bytes read = rows_of(q, queries) + rows_of(k, keys) + rows_of(v, keys);
  return {{4 * allowed * q.cols}, read + state, state, head_dim};
}

Cost AttentionBackward::cost() const {
  const auto [allowed, queries, keys] = extent(blocks, band);
  const Bytes sums = rows_of(dq, queries) + rows_of(dk, keys) + rows_of(dv, keys);
  const Bytes query_side =
      rows_of(q, queries) + rows_of(out, queries) + rows_of(dout, queries) + rows_of(lse, queries);
  const Bytes key_side = rows_of(k, keys) + rows_of(v, keys);
  return {{10 * allowed * q.cols}, query_side + key_side + sums, sums, head_dim};
}

Cost SwiGlu::cost() const {
  return {{6 * y.elements()}, gate_up.bytes(), y.bytes()};  // negate, exp, +, /; * gate, * up
}

Cost SwiGluBackward::cost() const {
  // the sigmoid's 4; dy gate s: 2; dy up s (1 + gate (1 - s)): 6
  return {{12 * dy.elements()}, sum(gate_up, dy), dgate_up.bytes()};
}

Cost DropoutAdd::cost() const {
  const Index each = dropout.rate > 0 ? 2 : 1;
  return {{each * y.elements()}, sum(x, branch, rows), y.bytes()};
}

Cost DropoutBackward::cost() const {
  const Index each = dropout.rate > 0 ? 1 : 0;
  return {{each * dy.elements()}, sum(dy, rows), dbranch.bytes()};
}

Cost Embed::cost() const {
  return {{}, tokens.bytes() + rows_of(weight, y.rows), y.bytes()};
}

Cost EmbedBackward::cost() const {
  const Bytes touched = rows_of(dweight, dy.rows);
  return {{dy.elements()}, sum(tokens, dy) + touched, touched};
}

Cost RowMax::cost() const {
  return {{logits.rows * valid_cols}, cols_of(logits, valid_cols), max.bytes()};
}

Cost SumExp::cost() const {
  return {{3 * logits.rows * valid_cols},  // - max, exp, +
          cols_of(logits, valid_cols) + sum(max, labels),
          stats.bytes()};
}

Cost LossSum::cost() const {
  return {{4 * max.rows}, kernels::sum(max, stats, labels, sum), sum.bytes()};
}

Cost CrossEntropyBackward::cost() const {
  return {{3 * logits.rows * valid_cols},  // - max, exp, / stats0
          cols_of(logits, valid_cols) + sum(max, stats, labels),
          logits.bytes()};
}

Cost SquaredNorm::cost() const {
  return {{2 * x.elements()}, x.bytes(), out.bytes()};
}

Cost AdamW::cost() const {
  // scale g: 1; m: 3; v: 4; both corrections: 2; sqrt, + epsilon, /: 3; decay and update: 4
  const Bytes copy = has_rounded() ? rounded.bytes() : Bytes{};
  return {{17 * p.elements()}, sum(p, g, m, v), sum(p, m, v) + copy};
}

Cost Fill::cost() const {
  return {{}, {}, x.bytes()};
}

Cost Copy::cost() const {
  return {{}, x.bytes(), y.bytes()};
}

Cost Add::cost() const {
  return {{x.elements()}, sum(x, y), y.bytes()};
}

Cost Normal::cost() const {
  return {{}, {}, x.bytes()};
}

Cost Upload::cost() const {
  return {{}, {}, x.bytes()};
}

Cost Download::cost() const {
  return {{}, x.bytes(), {}};
}

}  // namespace cpplan::kernels
