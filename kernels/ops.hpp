#pragma once
// Every op, once: a struct of arguments that knows its name, its shapes and its cost. Calling one,
//   ops(Gemm{.a = x, .b = weight, .c = y, .transpose_b = true});
// checks the shapes, tells the trace and runs it on the backend (backend.hpp), so that no backend
// repeats the first two. Unless said otherwise tensors of one op have one dtype: f32, bf16 or f64.
// Arithmetic is in the accumulator type (f32 for bf16) or better, and a result is rounded once, to
// nearest even. "added to" means y += ..., all other outputs are overwritten and may hold anything
// before.
#include <span>
#include <string_view>

#include "kernels/dropout.hpp"
#include "kernels/mask.hpp"
#include "kernels/tensor.hpp"
#include "kernels/trace.hpp"

namespace cpplan::kernels {

/// c = (accumulate ? c : 0) + op(a) op(b). op(a) [m, k], op(b) [k, n], c [m, n] in their type or,
/// as gradients of weights and logits are, in the accumulator type.
struct Gemm {
  static constexpr std::string_view name = "gemm";
  Tensor a, b, c;
  bool transpose_a = false, transpose_b = false, accumulate = false;
  Index k() const { return transpose_a ? a.rows : a.cols; }
  void check() const;
  Cost cost() const;
};

/// y = x * rstd * weight, rstd = 1 / sqrt(mean(x^2) + epsilon). x, y [n, h]; weight [1, h];
/// rstd [n, 1] in the accumulator type, kept for backward.
struct RmsNorm {
  static constexpr std::string_view name = "rms_norm";
  Tensor x, weight, y, rstd;
  double epsilon = 1e-5;
  void check() const;
  Cost cost() const;
};

/// dx and dweight are added to: dx holds the gradient of the residual branch already. dweight in
/// the accumulator type.
struct RmsNormBackward {
  static constexpr std::string_view name = "rms_norm_backward";
  Tensor x, weight, rstd, dy, dx, dweight;
  void check() const;
  Cost cost() const;
};

/// Rotary position embedding in place, halves convention of Hugging Face's Llama: pair (j, j + d/2)
/// of every head turns by position * frequencies[j] and grows by `magnitude`; d is twice the number
/// of frequencies. x [n, heads * d]; positions i32 [n, 1]. `inverse` turns back, and grows all the
/// same: the transpose, and so the backward pass.
struct Rope {
  static constexpr std::string_view name = "rope";
  Tensor x, positions;
  std::span<const double> frequencies;  // on the host
  double magnitude = 1;
  bool inverse = false;
  Index head_dim() const { return 2 * std::ssize(frequencies); }
  void check() const;
  Cost cost() const;
};

/// Attention over blocks. out, lse: in, the result so far (lse = -inf at first); out, the result
/// with these blocks merged in, so that a ring step, an all-gather call and a plain call are one
/// op. q [nq, heads * d]; k, v [nk, kv_heads * d]; out like q and lse [nq, heads] (natural log) in
/// the accumulator type. Rows in no block are left as they are. Source: reference formulas of
/// FlashAttention-2 (arXiv 2307.08691) and the log-sum-exp merge of ring attention.
struct Attention {
  static constexpr std::string_view name = "attention";
  Tensor q, k, v, out, lse;
  std::span<const Block> blocks;  // equal q stand together
  Band band = causal;
  Index head_dim = 0;
  Index first_head = 0;  // global number of the first head here, for dropout
  double scale = 1;
  Dropout dropout{};
  Index heads() const { return q.cols / head_dim; }
  void check() const;
  Cost cost() const;
};

/// dq, dk, dv in the accumulator type, added to. out and lse are the final ones of all blocks; out,
/// which may be rounded, and dout in the type of q.
struct AttentionBackward {
  static constexpr std::string_view name = "attention_backward";
  Tensor q, k, v, out, dout, lse, dq, dk, dv;
  std::span<const Block> blocks;
  Band band = causal;
  Index head_dim = 0, first_head = 0;
  double scale = 1;
  Dropout dropout{};
  Index heads() const { return q.cols / head_dim; }
  void check() const;
  Cost cost() const;
};

/// y = silu(gate) * up. gate_up [n, 2f] = [gate | up]; y [n, f].
struct SwiGlu {
  static constexpr std::string_view name = "swiglu";
  Tensor gate_up, y;
  void check() const;
  Cost cost() const;
};

struct SwiGluBackward {
  static constexpr std::string_view name = "swiglu_backward";
  Tensor gate_up, dy, dgate_up;
  void check() const;
  Cost cost() const;
};

/// y = x + dropout(branch). rows i32 [n, 2]: (index in the sample before padding, sample of the
/// micro-batch); a padding row has index -1 and its branch is dropped whole when rate > 0.
struct DropoutAdd {
  static constexpr std::string_view name = "dropout_add";
  Tensor x, branch, y, rows;
  Dropout dropout{};
  void check() const;
  Cost cost() const;
};

/// dbranch = dropout mask * dy.
struct DropoutBackward {
  static constexpr std::string_view name = "dropout_backward";
  Tensor dy, dbranch, rows;
  Dropout dropout{};
  void check() const;
  Cost cost() const;
};

/// y[i] = weight[tokens[i] - first_row], or 0 where that row is another rank's.
/// tokens i32 [n, 1]; weight [rows, h]; y [n, h].
struct Embed {
  static constexpr std::string_view name = "embed";
  Tensor tokens, weight, y;
  Index first_row = 0;
  void check() const;
  Cost cost() const;
};

/// dweight, in the accumulator type, is added to.
struct EmbedBackward {
  static constexpr std::string_view name = "embed_backward";
  Tensor tokens, dy, dweight;
  Index first_row = 0;
  void check() const;
  Cost cost() const;
};

/// max[i] = greatest logit of row i among the columns below `valid_cols` (the rest pads the
/// vocabulary). logits [n, v] in the accumulator type; max [n, 1]. No valid column: -inf.
struct RowMax {
  static constexpr std::string_view name = "row_max";
  Tensor logits, max;
  Index valid_cols = 0;
  void check() const;
  Cost cost() const;
};

/// stats[i] = (sum over valid columns of exp(logit - max), the label's logit or 0 where its column
/// is another rank's or the label is ignored). labels i32 [n, 1], below 0: ignored. stats [n, 2].
struct SumExp {
  static constexpr std::string_view name = "sum_exp";
  Tensor logits, max, labels, stats;
  Index first_col = 0;  // global number of column 0
  Index valid_cols = 0;
  void check() const;
  Cost cost() const;
};

/// sum [1, 2], f64 on every backend, is added to: (sum over labelled rows of
/// max + log(stats0) - stats1, number of labelled rows).
struct LossSum {
  static constexpr std::string_view name = "loss_sum";
  Tensor max, stats, labels, sum;
  void check() const;
  Cost cost() const;
};

/// logits, in: logits, out: gradient of the loss sum. Ignored rows and padding columns become 0.
struct CrossEntropyBackward {
  static constexpr std::string_view name = "cross_entropy_backward";
  Tensor logits, max, stats, labels;
  Index first_col = 0, valid_cols = 0;
  void check() const;
  Cost cost() const;
};

/// out [1, 1], f64 on every backend: sum of squares of x.
struct SquaredNorm {
  static constexpr std::string_view name = "squared_norm";
  Tensor x, out;
  void check() const;
  Cost cost() const;
};

/// Decoupled weight decay (arXiv 1711.05101); g is multiplied by grad_scale first (1 / tokens times
/// the clipping factor). step counts from 1. p, g, m, v [r, c] in an accumulator type: weights in
/// bf16 are `rounded`, overwritten with what their f32 master p becomes; else `rounded` is empty.
struct AdamW {
  static constexpr std::string_view name = "adamw";
  Tensor p, g, m, v, rounded{};
  double learning_rate = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  double grad_scale = 1;
  Index step = 1;
  bool has_rounded() const { return rounded.data != nullptr; }
  void check() const;
  Cost cost() const;
};

struct Fill {
  static constexpr std::string_view name = "fill";
  Tensor x;
  double value = 0;
  void check() const {}
  Cost cost() const;
};

/// y = x, converted where the dtypes differ.
struct Copy {
  static constexpr std::string_view name = "copy";
  Tensor x, y;
  void check() const;
  Cost cost() const;
};

/// y is added to.
struct Add {
  static constexpr std::string_view name = "add";
  Tensor x, y;
  void check() const;
  Cost cost() const;
};

/// x[i, j] normal with deviation `deviation`, drawn by Box-Muller in double on the host from
/// counter e = (first_row + i) * global_cols + first_col + j under `key`; rows from `valid_rows` on
/// (vocabulary padding) are 0.
struct Normal {
  static constexpr std::string_view name = "normal";
  Tensor x;
  std::uint64_t key = 0;
  Index first_row = 0, first_col = 0, global_cols = 0, valid_rows = 0;
  double deviation = 0.02;
  void check() const;
  Cost cost() const;
};

/// Host to device, x contiguous. Meta never reads `from`.
struct Upload {
  static constexpr std::string_view name = "upload";
  Tensor x;
  const void* from = nullptr;
  void check() const;
  Cost cost() const;
};

/// Device to host, x contiguous. Waits for what computes x. Meta leaves `to` untouched.
struct Download {
  static constexpr std::string_view name = "download";
  Tensor x;
  void* to = nullptr;
  void check() const;
  Cost cost() const;
};

}  // namespace cpplan::kernels
