#include "kernels/cuda/device_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cpplan::kernels::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Matrix less(Matrix m, double start) {
  for (double& value : m.values) value -= start;
  return m;
}

AttentionProblem with_dropout(AttentionProblem p) {
  p.dropout = {0xFEEDull, 3, 11, 0.25}, p.first_head = 6;
  p.name += " dropout";
  return p;
}

/// Documents of 70, 1 and 150 tokens, each padded to a multiple of 8; samples 0 and 1.
AttentionProblem packed() {
  AttentionProblem p{"packed documents with padding", 232, 232};
  for (const auto& [row, count, sample] :
       {std::array<Index, 3>{0, 70, 0}, {72, 1, 0}, {80, 150, 1}})
    p.blocks.push_back(block(rows(row, count, 0), rows(row, count, 0), causal, sample));
  return p;
}

AttentionProblem striped() {
  AttentionProblem p{"striped", 90, 90};
  p.blocks = {block(rows(0, 90, 1, 3), rows(0, 90, 2, 3), causal)};
  return p;
}

}  // namespace

DeviceAttention::DeviceAttention(const AttentionProblem& problem, DType dtype)
    : problem_(problem),
      inputs_(bf16_inputs(problem)),
      dtype_(dtype),
      scale_(1 / std::sqrt(static_cast<double>(problem.head_dim))),
      q_(inputs_.q, dtype),
      k_(inputs_.k, dtype),
      v_(inputs_.v, dtype),
      dout_(inputs_.dout, dtype),
      out_(filled(problem.queries, inputs_.q.cols, nan), DType::f32),
      lse_(filled(problem.queries, problem.heads, -infinity), DType::f32),
      dq_(filled(problem.queries, inputs_.q.cols, gradient_start), DType::f32),
      dk_(filled(problem.keys, inputs_.k.cols, gradient_start), DType::f32),
      dv_(filled(problem.keys, inputs_.k.cols, gradient_start), DType::f32) {}

void DeviceAttention::attend(std::span<const Block> blocks) {
  cuda::attention({.q = q_.tensor(),
                   .k = k_.tensor(),
                   .v = v_.tensor(),
                   .out = out_.tensor(),
                   .lse = lse_.tensor(),
                   .blocks = blocks,
                   .band = problem_.band,
                   .head_dim = problem_.head_dim,
                   .first_head = problem_.first_head,
                   .scale = scale_,
                   .dropout = problem_.dropout},
                  stream_);
  stream_.synchronize();
}

void DeviceAttention::differentiate(cuda::GradientOrder order, double part) {
  const DeviceMatrix out(out_.read(), dtype_);
  const AttentionBackward op{.q = q_.tensor(),
                             .k = k_.tensor(),
                             .v = v_.tensor(),
                             .out = out.tensor(),
                             .dout = dout_.tensor(),
                             .lse = lse_.tensor(),
                             .dq = dq_.tensor(),
                             .dk = dk_.tensor(),
                             .dv = dv_.tensor(),
                             .blocks = problem_.blocks,
                             .band = problem_.band,
                             .head_dim = problem_.head_dim,
                             .first_head = problem_.first_head,
                             .scale = scale_,
                             .dropout = problem_.dropout};
  const auto bytes = static_cast<double>(cuda::attention_workspace(op).count);
  const cuda::DeviceMemory workspace({static_cast<Index>(part * bytes)});
  cuda::attention_backward(
      op, order, {workspace.data(), static_cast<std::size_t>(workspace.bytes().count)}, stream_);
  stream_.synchronize();
}

AttentionResults DeviceAttention::results() const {
  return {out_.read(), lse_.read(), less(dq_.read(), gradient_start),
          less(dk_.read(), gradient_start), less(dv_.read(), gradient_start)};
}

AttentionProblem with_heads(AttentionProblem p, Index heads, Index kv_heads, Index head_dim) {
  p.heads = heads, p.kv_heads = kv_heads, p.head_dim = head_dim;
  return p;
}

AttentionProblem ring_problem() {
  AttentionProblem p{"ring step blocks", 80, 240};
  const Run early = rows(0, 40, 40), late = rows(40, 40, 160);
  for (const Index chunk : {1, 4, 0, 5, 2, 3})
    for (const Run& q : {early, late})
      p.blocks.push_back(block(q, rows(40 * chunk, 40, 40 * chunk), causal));
  std::stable_sort(p.blocks.begin(), p.blocks.end(),
                   [](const Block& a, const Block& b) { return a.q.row < b.q.row; });
  return p;
}

std::vector<AttentionProblem> device_problems() {
  std::vector<AttentionProblem> all = {
      with_heads(dense("causal 150", 150, causal), 2, 1, 64),
      with_heads(dense("causal 150", 150, causal), 1, 1, 96),
      with_heads(dense("causal 150", 150, causal), 1, 1, 128),
      with_heads(dense("causal 140", 140, causal), 1, 1, 256),
      with_heads(dense("bidirectional 131", 131, bidirectional), 1, 1, 40),
      with_heads(dense("window of 17 in 200", 200, sliding_window(17)), 1, 1, 64),
      with_heads(packed(), 2, 2, 64),
      with_dropout(with_heads(packed(), 2, 1, 72)),
      with_heads(ring_problem(), 1, 1, 64),
      with_dropout(with_heads(striped(), 1, 1, 64)),
      with_heads(dense("one token", 1, causal), 1, 1, 128)};
#ifdef CPPLAN_SANITIZED  // instrumented threads take ten times as long
  all = {all[0], with_dropout(with_heads(ring_problem(), 2, 1, 72))};
#endif
  return all;
}

}  // namespace cpplan::kernels::test
