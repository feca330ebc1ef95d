// Speed of the host kernels on one thread, in f32 and bf16: kernels_bench [name]. Best of the runs
// that fit into a third of a second, after one to warm up; GF/s and GB/s are the op's own cost()
// over that time.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <string_view>

#include "kernels/cases/attention_problem.hpp"
#include "kernels/cases/case.hpp"
#include "kernels/rope.hpp"

namespace cpplan::kernels::test {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F>
double best_time(F&& f) {
  f();
  double best = 1e9;
  for (const double start = seconds(); seconds() < start + 0.3;) {
    const double before = seconds();
    f();
    best = std::min(best, seconds() - before);
  }
  return best;
}

std::string_view filter, type_name;

template <class Op>
void measure(Session& s, std::string_view shape, const Op& op) {
  if (Op::name.find(filter) == std::string_view::npos) return;
  const double time = best_time([&] { s.ops()(op); });
  const Cost cost = op.cost();
  fmt::print("{:<24} {:<5} {:<34} {:>9.3f} ms {:>7.1f} GF/s {:>7.1f} GB/s\n", Op::name, type_name,
             shape, time * 1e3, static_cast<double>(cost.flops.count) / time / 1e9,
             static_cast<double>((cost.read + cost.written).count) / time / 1e9);
}

Tensor random(Session& s, Index rows, Index cols) {
  return s.values(random_matrix(rows, cols, 1));
}

Tensor random_sums(Session& s, Index rows, Index cols) {
  return s.accumulated(random_matrix(rows, cols, 1));
}

void measure_attention(const Backend& backend, Index n, Index heads, Index kv_heads, Index d,
                       Band band, double rate) {
  Session s(backend);
  AttentionProblem problem = dense("", n, band);
  problem.heads = heads, problem.kv_heads = kv_heads, problem.head_dim = d;
  problem.dropout.rate = rate;
  const AttentionInputs inputs = random_inputs(problem);
  const Attention forward = make_attention(s, problem, inputs);
  const AttentionBackward backward = make_backward(s, forward, inputs);
  const std::string shape = fmt::format("{} tokens, {}/{} heads of {}{}{}", n, heads, kv_heads, d,
                                        band.right == 0 ? " causal" : "", rate > 0 ? " drop" : "");
  measure(s, shape, forward);
  s.ops()(forward);
  measure(s, shape, backward);
}

void measure_attention_shapes(const Backend& backend) {
  measure_attention(backend, 2048, 4, 4, 64, causal, 0);
  measure_attention(backend, 2048, 4, 1, 128, causal, 0);
  measure_attention(backend, 256, 8, 2, 32, causal, 0);
  measure_attention(backend, 2048, 4, 4, 64, bidirectional, 0);
  measure_attention(backend, 2048, 4, 4, 64, causal, 0.1);
}

void measure_products(const Backend& backend) {
  Session s(backend);
  const Index n = 1024;
  const Tensor a = random(s, n, n), b = random(s, n, n), c = random(s, n, n);
  measure(s, "1024 cubed", Gemm{a, b, c, false, false, false});
  measure(s, "1024 cubed, b^T", Gemm{a, b, c, false, true, false});
  measure(s, "1024 cubed, a^T, accumulate sums",
          Gemm{a, b, random_sums(s, n, n), true, false, true});
}

/// Of bf16 weights by their f32 master; of f32 weights themselves.
void measure_update(Session& s, Index n, Index h) {
  AdamW op{.p = random_sums(s, n, h), .g = random_sums(s, n, h), .m = random_sums(s, n, h)};
  op.v = s.accumulated(filled(n, h, 1));
  const Tensor weights = random(s, n, h);
  if (weights.dtype != op.p.dtype) op.rounded = weights;
  measure(s, fmt::format("{} x {}", n, h), op);
}

void measure_rows(const Backend& backend) {
  Session s(backend);
  const Index n = 1024, h = 2048;
  const Tensor x = random(s, n, h), y = random(s, n, h), z = random(s, n, h);
  const Tensor weight = random(s, 1, h), dweight = random_sums(s, 1, h);
  const Tensor rstd = random_sums(s, n, 1);
  const Tensor positions = s.indices(random_indices(n, 1, 0, 8192, 1));
  const Tensor token_rows = s.indices(random_indices(n, 2, 0, 8192, 1));
  const Tensor gate_up = random(s, n, 2 * h), dgate_up = random(s, n, 2 * h);
  const std::string_view shape = "1024 x 2048";
  measure(s, shape, RmsNorm{x, weight, y, rstd});
  measure(s, shape, RmsNormBackward{x, weight, rstd, y, z, dweight});
  const auto frequencies = rope_frequencies(64, 10000);
  measure(s, "1024 x 32 heads of 64", Rope{x, positions, frequencies});
  measure(s, shape, SwiGlu{gate_up, y});
  measure(s, shape, SwiGluBackward{gate_up, y, dgate_up});
  measure(s, shape, DropoutAdd{x, y, z, token_rows, {1, 2, 3, 0.0}});
  measure(s, "1024 x 2048 rate 0.1", DropoutAdd{x, y, z, token_rows, {1, 2, 3, 0.1}});
  measure(s, "1024 x 2048 rate 0.1", DropoutBackward{y, z, token_rows, {1, 2, 3, 0.1}});
  measure_update(s, n, h);
  measure(s, shape, SquaredNorm{x, s.sums(filled(1, 1, 0))});
  measure(s, shape, Fill{z, 1});
  measure(s, shape, Copy{x, y});
  measure(s, "1024 x 2048 from sums", Copy{random_sums(s, n, h), y});
  measure(s, shape, Add{x, y});
  measure(s, shape, Normal{x, 1, 0, 0, h, n, 0.02});
}

void measure_vocabulary(const Backend& backend) {
  Session s(backend);
  const Index n = 256, vocabulary = 32000, h = 1024;
  const Tensor logits = random_sums(s, n, vocabulary);
  const Tensor max = random_sums(s, n, 1), stats = random_sums(s, n, 2);
  const Tensor tokens = s.indices(random_indices(n, 1, 0, vocabulary, 1));
  const Tensor table = random(s, vocabulary, h), rows = random(s, n, h);
  measure(s, "256 x 1024 of 32000", Embed{tokens, table, rows, 0});
  measure(s, "256 x 1024 of 32000", EmbedBackward{tokens, rows, random_sums(s, vocabulary, h), 0});
  measure(s, "256 x 32000", RowMax{logits, max, vocabulary});
  measure(s, "256 x 32000", SumExp{logits, max, tokens, stats, 0, vocabulary});
  measure(s, "256 x 32000", LossSum{max, stats, tokens, s.sums(filled(1, 2, 0))});
  measure(s, "256 x 32000", CrossEntropyBackward{logits, max, stats, tokens, 0, vocabulary});
}

}  // namespace
}  // namespace cpplan::kernels::test

int main(int argc, char** argv) {
  using namespace cpplan::kernels::test;
  if (argc > 1) filter = argv[1];
  for (const Backend* backend : {&cpu_backend, &cpu_bf16_backend}) {
    type_name = backend->real == cpplan::kernels::DType::bf16 ? "bf16" : "f32";
    measure_products(*backend);
    measure_attention_shapes(*backend);
    measure_rows(*backend);
    measure_vocabulary(*backend);
  }
}
