// What each op demands of its arguments. A broken demand is a bug of the caller, so it is a
// contract; the texts name the shape that the op's declaration promises.
#include "kernels/ops.hpp"

namespace cpplan::kernels {
namespace {

bool is(const Tensor& t, Index rows, Index cols) {
  return t.rows == rows && t.cols == cols;
}

bool rows_apart(const Tensor& t) {
  return t.rows <= 1 || t.stride >= t.cols;
}

/// All hold values of one floating type, in rows that do not overlap.
template <class... T>
void expect_values(const Tensor& first, const T&... others) {
  expect(first.dtype != DType::i32, "values are floating-point");
  expect(((others.dtype == first.dtype) && ...), "tensors of one op have one dtype");
  expect(rows_apart(first) && (rows_apart(others) && ...), "rows do not overlap");
}

/// All hold sums over values of type `t`.
template <class... T>
void expect_accumulators(DType t, const T&... tensors) {
  expect(((tensors.dtype == accumulator(t)) && ...), "sums are kept in the accumulator type");
  expect((rows_apart(tensors) && ...), "rows do not overlap");
}

void expect_indices(const Tensor& t, Index rows, Index cols) {
  expect(t.dtype == DType::i32, "indices are i32");
  expect(is(t, rows, cols), "one row of indices a token");
}

void expect_dropout(const Dropout& d) {
  expect(d.rate >= 0 && d.threshold() < 65536, "dropout rate in [0, 1)");
}

bool inside(const Run& run, const Tensor& t) {
  return run.row >= 0 && run.count >= 0 && run.row + run.count <= t.rows && run.stride > 0;
}

/// What forward and backward share.
template <class Op>
void expect_attention(const Op& op) {
  expect_values(op.q, op.k, op.v);
  expect_accumulators(op.q.dtype, op.lse);
  expect(op.head_dim > 0 && op.q.cols % op.head_dim == 0, "q [nq, heads * head_dim]");
  expect(same_shape(op.k, op.v) && op.k.cols % op.head_dim == 0, "k, v [nk, kv_heads * head_dim]");
  expect(op.k.cols > 0 && op.q.cols % op.k.cols == 0, "kv heads divide heads");
  expect(same_shape(op.out, op.q), "out like q");
  expect(is(op.lse, op.q.rows, op.heads()), "lse [nq, heads]");
  expect_dropout(op.dropout);
  for (const Block& block : op.blocks)
    expect(inside(block.q, op.q) && inside(block.k, op.k), "blocks lie inside q and k");
}

/// What the three ops on logits share.
void expect_logits(const Tensor& logits, const Tensor& max, Index valid_cols) {
  expect_values(logits, max);
  expect(logits.dtype == accumulator(logits.dtype), "logits in the accumulator type");
  expect(is(max, logits.rows, 1), "max [n, 1]");
  expect(valid_cols >= 0 && valid_cols <= logits.cols, "valid columns of the logits");
}

}  // namespace

void Gemm::check() const {
  expect_values(a, b);
  expect(c.dtype == a.dtype || c.dtype == accumulator(a.dtype),
         "c in the type of a or of its sums");
  expect(rows_apart(c), "rows do not overlap");
  expect((transpose_a ? a.cols : a.rows) == c.rows, "op(a) [m, k], c [m, n]");
  expect((transpose_b ? b.rows : b.cols) == c.cols, "op(b) [k, n], c [m, n]");
  expect((transpose_b ? b.cols : b.rows) == k(), "op(a) [m, k], op(b) [k, n]");
}

void RmsNorm::check() const {
  expect_values(x, weight, y);
  expect_accumulators(x.dtype, rstd);
  expect(same_shape(x, y), "x, y [n, h]");
  expect(is(weight, 1, x.cols), "weight [1, h]");
  expect(is(rstd, x.rows, 1), "rstd [n, 1]");
  expect(epsilon >= 0, "epsilon is not negative");
}

void RmsNormBackward::check() const {
  expect_values(x, weight, dy, dx);
  expect_accumulators(x.dtype, rstd, dweight);
  expect(same_shape(x, dy) && same_shape(x, dx), "x, dy, dx [n, h]");
  expect(is(weight, 1, x.cols) && same_shape(weight, dweight), "weight, dweight [1, h]");
  expect(is(rstd, x.rows, 1), "rstd [n, 1]");
}

void Rope::check() const {
  expect_values(x);
  expect_indices(positions, x.rows, 1);
  expect(!frequencies.empty(), "a frequency for each pair of features");
  expect(x.cols % head_dim() == 0, "x [n, heads * head_dim]");
}

void Attention::check() const {
  expect_attention(*this);
  expect_accumulators(q.dtype, out);
}

void AttentionBackward::check() const {
  expect_attention(*this);
  expect_values(q, out, dout);
  expect_accumulators(q.dtype, dq, dk, dv);
  expect(same_shape(dout, q) && same_shape(dq, q), "dout, dq like q");
  expect(same_shape(dk, k) && same_shape(dv, v), "dk, dv like k, v");
}

void SwiGlu::check() const {
  expect_values(gate_up, y);
  expect(is(gate_up, y.rows, 2 * y.cols), "gate_up [n, 2f], y [n, f]");
}

void SwiGluBackward::check() const {
  expect_values(gate_up, dy, dgate_up);
  expect(is(gate_up, dy.rows, 2 * dy.cols), "gate_up [n, 2f], dy [n, f]");
  expect(same_shape(gate_up, dgate_up), "dgate_up like gate_up");
}

void DropoutAdd::check() const {
  expect_values(x, branch, y);
  expect_indices(rows, x.rows, 2);
  expect(same_shape(x, branch) && same_shape(x, y), "x, branch, y [n, h]");
  expect_dropout(dropout);
}

void DropoutBackward::check() const {
  expect_values(dy, dbranch);
  expect_indices(rows, dy.rows, 2);
  expect(same_shape(dy, dbranch), "dy, dbranch [n, h]");
  expect_dropout(dropout);
}

void Embed::check() const {
  expect_values(weight, y);
  expect_indices(tokens, y.rows, 1);
  expect(weight.cols == y.cols, "weight [rows, h], y [n, h]");
}

void EmbedBackward::check() const {
  expect_values(dy);
  expect_accumulators(dy.dtype, dweight);
  expect_indices(tokens, dy.rows, 1);
  expect(dweight.cols == dy.cols, "dweight [rows, h], dy [n, h]");
}

void RowMax::check() const {
  expect_logits(logits, max, valid_cols);
}

void SumExp::check() const {
  expect_logits(logits, max, valid_cols);
  expect_indices(labels, logits.rows, 1);
  expect(is(stats, logits.rows, 2) && stats.dtype == logits.dtype, "stats [n, 2]");
}

void LossSum::check() const {
  expect_values(max, stats);
  expect_indices(labels, max.rows, 1);
  expect(max.cols == 1 && is(stats, max.rows, 2), "max [n, 1], stats [n, 2]");
  expect(is(sum, 1, 2) && sum.dtype == DType::f64, "sum [1, 2] in f64");
}

void CrossEntropyBackward::check() const {
  expect_logits(logits, max, valid_cols);
  expect_indices(labels, logits.rows, 1);
  expect(is(stats, logits.rows, 2) && stats.dtype == logits.dtype, "stats [n, 2]");
}

void SquaredNorm::check() const {
  expect_values(x);
  expect(is(out, 1, 1) && out.dtype == DType::f64, "out [1, 1] in f64");
}

void AdamW::check() const {
  expect_values(p, g, m, v);
  expect(p.dtype == accumulator(p.dtype), "an update is of weights in an accumulator type");
  expect(same_shape(p, g) && same_shape(p, m) && same_shape(p, v), "p, g, m, v [r, c]");
  if (has_rounded()) {
    expect_values(rounded);
    expect_accumulators(rounded.dtype, p);
    expect(same_shape(p, rounded), "rounded like p");
  }
  expect(step >= 1, "steps count from 1");
}

void Copy::check() const {
  expect(same_shape(x, y), "x, y of one shape");
  expect((x.dtype == DType::i32) == (y.dtype == DType::i32), "indices do not become values");
  expect(rows_apart(y), "rows do not overlap");
}

void Add::check() const {
  expect(same_shape(x, y), "x, y of one shape");
  expect(x.dtype == y.dtype || y.dtype == accumulator(x.dtype),
         "y in the type of x or of its sums");
  expect(rows_apart(y), "rows do not overlap");
}

void Normal::check() const {
  expect_values(x);
  expect(first_row >= 0 && first_col >= 0, "a shard of a whole parameter");
  expect(first_col + x.cols <= global_cols, "the shard's columns are columns of the parameter");
}

void Upload::check() const {
  expect(x.contiguous(), "a transfer is contiguous");
}

void Download::check() const {
  expect(x.contiguous(), "a transfer is contiguous");
}

}  // namespace cpplan::kernels
