// Attention on tensor cores against the formula in double: the error is at most twice (of
// gradients, three times) that of the plain formula in bf16. And what the kernels promise beside
// it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "emulator/settings.hpp"
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/device_matrix.hpp"
#include "kernels/cuda/rounded_attention.hpp"

namespace cpplan::kernels::test {
namespace {

using cuda::DeviceMemory;
using cuda::GradientOrder;
using cuda::Stream;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double gradient_start = 0.5;  // gradients are added to

/// A problem in memory of the device, with results that are poisoned or have begun.
class OnDevice {
 public:
  OnDevice(const AttentionProblem& p, DType dtype = DType::bf16)
      : p_(p), inputs_(random_inputs(p)), dtype_(dtype) {}

  void attend() { attend(p_.blocks); }
  void attend(std::span<const Block> blocks) {
    cuda::attention({.q = q_.tensor(),
                     .k = k_.tensor(),
                     .v = v_.tensor(),
                     .out = out_.tensor(),
                     .lse = lse_.tensor(),
                     .blocks = blocks,
                     .band = p_.band,
                     .head_dim = p_.head_dim,
                     .first_head = p_.first_head,
                     .scale = scale(),
                     .dropout = p_.dropout},
                    stream_);
    stream_.synchronize();
  }
  /// `part`: how much of the workspace that all heads need there is.
  void differentiate(GradientOrder order, double part = 1) {
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
                               .blocks = p_.blocks,
                               .band = p_.band,
                               .head_dim = p_.head_dim,
                               .first_head = p_.first_head,
                               .scale = scale(),
                               .dropout = p_.dropout};
    const DeviceMemory workspace(
        {static_cast<Index>(part * static_cast<double>(cuda::attention_workspace(op).count))});
    cuda::attention_backward(
        op, order, {workspace.data(), static_cast<std::size_t>(workspace.bytes().count)}, stream_);
    stream_.synchronize();
  }
  AttentionResults results() const {
    return {out_.read(), lse_.read(), dq_.read(), dk_.read(), dv_.read()};
  }

 private:
  double scale() const { return 1 / std::sqrt(static_cast<double>(p_.head_dim)); }

  const AttentionProblem p_;
  const AttentionInputs inputs_;
  const DType dtype_;
  const Stream stream_;
  const DeviceMatrix q_{inputs_.q, dtype_}, k_{inputs_.k, dtype_}, v_{inputs_.v, dtype_},
      dout_{inputs_.dout, dtype_};
  const DeviceMatrix out_{filled(p_.queries, inputs_.q.cols, nan), DType::f32},
      lse_{filled(p_.queries, p_.heads, -infinity), DType::f32};
  const DeviceMatrix dq_{filled(p_.queries, inputs_.q.cols, gradient_start), DType::f32},
      dk_{filled(p_.keys, inputs_.k.cols, gradient_start), DType::f32},
      dv_{filled(p_.keys, inputs_.k.cols, gradient_start), DType::f32};
};

AttentionProblem with_heads(AttentionProblem p, Index heads, Index kv_heads, Index head_dim) {
  p.heads = heads, p.kv_heads = kv_heads, p.head_dim = head_dim;
  return p;
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

/// What rank 1 of three has before it in a ring of head-tail chunks of 40 tokens: its own chunks 1
/// and 4 and, from other ranks, chunks of keys before and behind them.
AttentionProblem ring() {
  AttentionProblem p{"ring step blocks", 80, 240};
  const Run early = rows(0, 40, 40), late = rows(40, 40, 160);
  for (const Index chunk : {1, 4, 0, 5, 2, 3})
    for (const Run& q : {early, late})
      p.blocks.push_back(block(q, rows(40 * chunk, 40, 40 * chunk), causal));
  std::stable_sort(p.blocks.begin(), p.blocks.end(),
                   [](const Block& a, const Block& b) { return a.q.row < b.q.row; });
  return p;
}

AttentionProblem striped() {
  AttentionProblem p{"striped", 90, 90};
  p.blocks = {block(rows(0, 90, 1, 3), rows(0, 90, 2, 3), causal)};
  return p;
}

/// More than one tile of each kernel, and no multiples of one.
std::vector<AttentionProblem> problems() {
  return {with_heads(dense("causal 150", 150, causal), 2, 1, 64),
          with_heads(dense("causal 150", 150, causal), 1, 1, 96),
          with_heads(dense("causal 150", 150, causal), 1, 1, 128),
          with_heads(dense("causal 100", 100, causal), 1, 1, 256),
          with_heads(dense("bidirectional 131", 131, bidirectional), 1, 1, 40),
          with_heads(dense("window of 17 in 200", 200, sliding_window(17)), 1, 1, 64),
          with_heads(packed(), 2, 2, 64),
          with_dropout(with_heads(packed(), 2, 1, 72)),
          with_heads(ring(), 1, 1, 64),
          with_dropout(with_heads(striped(), 1, 1, 64)),
          with_heads(dense("one token", 1, causal), 1, 1, 128)};
}

double greatest_error(const Matrix& a, const Matrix& b, double offset = 0) {
  double greatest = 0;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    if (a.values[e] == b.values[e]) continue;
    const double error = std::abs(a.values[e] - offset - b.values[e]);
    greatest = std::isnan(error) ? infinity : std::max(greatest, error);
  }
  return greatest;
}

/// Rows that no block has keep what they held; the formula has 0 there.
AttentionResults without_untouched(AttentionResults r, const AttentionResults& formula) {
  for (Index i = 0; i < r.out.rows; ++i)
    for (Index j = 0; j < r.out.cols; ++j)
      if (formula.lse(i, 0) == -infinity && std::isnan(r.out(i, j))) r.out(i, j) = 0;
  return r;
}

struct Errors {
  double out, lse, dq, dk, dv;
};
Errors errors(const AttentionResults& r, const AttentionResults& exact, double start) {
  return {greatest_error(r.out, exact.out), greatest_error(r.lse, exact.lse),
          greatest_error(r.dq, exact.dq, start), greatest_error(r.dk, exact.dk, start),
          greatest_error(r.dv, exact.dv, start)};
}

void check_bounds(const Errors& device, const Errors& plain) {
  constexpr double f32 = 1e-5;  // where bf16 happens to be exact
  CHECK(device.out <= 2 * plain.out + f32);
  CHECK(device.lse <= 2e-6 * 10);
  CHECK(device.dq <= 3 * plain.dq + f32);
  CHECK(device.dk <= 3 * plain.dk + f32);
  CHECK(device.dv <= 3 * plain.dv + f32);
}

}  // namespace

TEST_CASE("cuda attention: errors are at most twice and three times those of plain bf16") {
  for (const AttentionProblem& p : problems())
    for (const GradientOrder order : {GradientOrder::fixed, GradientOrder::any}) {
      CAPTURE(fmt::format("{} d {} order {}", p.name, p.head_dim, static_cast<int>(order)));
      const AttentionInputs inputs = random_inputs(p);
      const AttentionResults exact = attention_by_formula(p, inputs, Rounding::none);
      const AttentionResults plain = attention_by_formula(p, inputs, Rounding::bf16);
      OnDevice device(p);
      device.attend();
      device.differentiate(order);
      check_bounds(errors(without_untouched(device.results(), exact), exact, gradient_start),
                   errors(plain, exact, 0));
    }
}

}  // namespace cpplan::kernels::test
