// Attention on tensor cores against the formula in double: the error is at most twice (of
// gradients, three times) that of the plain formula in bf16. And what the kernels promise beside
// it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/settings.hpp"
#include "kernels/cuda/device_attention.hpp"

namespace cpplan::kernels::test {
namespace {

using cuda::GradientOrder;
using emulator::settings;
using emulator::statistics;

constexpr double infinity = std::numeric_limits<double>::infinity();

double greatest_error(const Matrix& a, const Matrix& b) {
  double greatest = 0;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    if (a.values[e] == b.values[e]) continue;
    const double error = std::abs(a.values[e] - b.values[e]);
    greatest = std::isnan(error) ? infinity : std::max(greatest, error);
  }
  return greatest;
}

/// `out` of the device in rows that a block has; the formula's in the others.
Matrix touched(Matrix out, const AttentionProblem& p, const Matrix& formula) {
  const auto in_a_block = [&](Index i) {
    return std::any_of(p.blocks.begin(), p.blocks.end(),
                       [&](const Block& b) { return i >= b.q.row && i < b.q.row + b.q.count; });
  };
  for (Index i = 0; i < out.rows; ++i)
    for (Index j = 0; j < out.cols; ++j)
      if (!in_a_block(i)) out(i, j) = formula(i, j);
  return out;
}

struct Errors {
  double out, lse, dq, dk, dv;
};
Errors errors(const AttentionProblem& p, const AttentionResults& r, const AttentionResults& exact) {
  return {greatest_error(touched(r.out, p, exact.out), exact.out), greatest_error(r.lse, exact.lse),
          greatest_error(r.dq, exact.dq), greatest_error(r.dk, exact.dk),
          greatest_error(r.dv, exact.dv)};
}

void check_bounds(const Errors& device, const Errors& plain) {
  constexpr double f32 = 1e-5;  // where bf16 happens to be exact
  CHECK(device.out <= 2 * plain.out + f32);
  CHECK(device.lse <= f32);
  CHECK(device.dq <= 3 * plain.dq + f32);
  CHECK(device.dk <= 3 * plain.dk + f32);
  CHECK(device.dv <= 3 * plain.dv + f32);
}

AttentionResults on_device(const AttentionProblem& p, GradientOrder order, double part = 1) {
  DeviceAttention device(p);
  device.attend();
  device.differentiate(order, part);
  return device.results();
}

bool same_bits(const AttentionResults& a, const AttentionResults& b) {
  return greatest_error(a.out, b.out) == 0 && greatest_error(a.lse, b.lse) == 0 &&
         greatest_error(a.dq, b.dq) == 0 && greatest_error(a.dk, b.dk) == 0 &&
         greatest_error(a.dv, b.dv) == 0;
}

/// Threads of a block from the last to the first, copies at once: the other end of what is allowed.
struct OtherOrder {
  OtherOrder() {
    settings().threads = emulator::ThreadOrder::descending;
    settings().copies = emulator::CopyTime::at_once;
  }
  ~OtherOrder() { settings() = {}; }
};

}  // namespace

TEST_CASE("cuda attention: errors are at most twice and three times those of plain bf16") {
  const emulator::Statistics before = statistics();
  for (const AttentionProblem& p : device_problems()) {
    CAPTURE(fmt::format("{} d {}", p.name, p.head_dim));
    const AttentionInputs inputs = bf16_inputs(p);
    const AttentionResults exact = attention_by_formula(p, inputs, Rounding::none);
    const AttentionResults plain = attention_by_formula(p, inputs, Rounding::bf16);
    for (const GradientOrder order : {GradientOrder::fixed, GradientOrder::any}) {
      CAPTURE(static_cast<int>(order));
      check_bounds(errors(p, on_device(p, order), exact), errors(p, plain, exact));
    }
  }
  if (emulator::counting) CHECK(statistics().multiply_adds > before.multiply_adds);
  CHECK(statistics().bank_conflicts == before.bank_conflicts);
}

TEST_CASE("cuda attention: f32 and rows that no tensor core takes are computed in f32") {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const AttentionProblem p = with_heads(ring_problem(), 2, 1, dtype == DType::f32 ? 64 : 5);
    CAPTURE(p.head_dim);
    const AttentionResults exact = attention_by_formula(p, bf16_inputs(p), Rounding::none);
    const Index before = statistics().multiply_adds;
    DeviceAttention device(p, dtype);
    device.attend();
    device.differentiate(GradientOrder::fixed);
    const Errors e = errors(p, device.results(), exact);
    const double of_rounded_out = dtype == DType::bf16 ? 1e-2 : 0;
    CHECK(statistics().multiply_adds == before);
    CHECK(std::max(e.out, e.lse) < 4e-6);
    CHECK(std::max(e.dq, e.dk) < 1e-5 + of_rounded_out);
    CHECK(e.dv < 2e-5);
  }
}

TEST_CASE("cuda attention: with a fixed order bits depend on no order of threads or copies") {
  const AttentionProblem p = with_heads(ring_problem(), 2, 1, 72);
  const AttentionResults one = on_device(p, GradientOrder::fixed);
  const OtherOrder reversed;
  CHECK(same_bits(one, on_device(p, GradientOrder::fixed)));
}

TEST_CASE("cuda attention: heads in several turns give the same bits") {
  const AttentionProblem p = with_heads(dense("causal 70", 70, causal), 4, 2, 64);
  CHECK(same_bits(on_device(p, GradientOrder::fixed), on_device(p, GradientOrder::fixed, 0.6)));
}

TEST_CASE("cuda attention: calls for one block each merge to the result of all") {
  const AttentionProblem p = with_heads(ring_problem(), 1, 1, 64);
  DeviceAttention apart(p), together(p);
  for (const Block& block : p.blocks) apart.attend({&block, 1});
  together.attend();
  // Probabilities are rounded to bf16 relative to the greatest score so far, which differs.
  CHECK(greatest_error(apart.results().out, together.results().out) < 0x1p-9);
  CHECK(greatest_error(apart.results().lse, together.results().lse) < 2e-6);
}

TEST_CASE("cuda attention: rows of no block stay as they are and rows without keys are zeros") {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    AttentionProblem p = with_heads({"no keys", 220, 40}, 1, 1, 64);
    p.blocks = {block(rows(8, 200, 0), rows(0, 40, 150), causal)};  // queries 0 to 149 see nothing
    DeviceAttention device(p, dtype);
    device.attend();
    device.differentiate(GradientOrder::any);
    const AttentionResults r = device.results();
    CHECK(std::isnan(r.out(7, 0)));
    CHECK(std::isnan(r.out(208, 63)));
    CHECK(r.out(8, 0) == 0);
    CHECK(r.out(157, 63) == 0);
    CHECK(r.lse(157, 0) == -infinity);
    CHECK(r.lse(158, 0) > -infinity);
    CHECK(r.dq(157, 5) == 0);
    CHECK(r.dq(159, 5) != 0);
  }
}

TEST_CASE("cuda attention: a call allocates nothing on the device") {
  const AttentionProblem p = with_heads(ring_problem(), 1, 1, 64);
  DeviceAttention device(p);
  const Index before = statistics().allocations;
  device.attend();
  CHECK(statistics().allocations == before);
}

}  // namespace cpplan::kernels::test
