// Speed of the kernels on a device, as rows of Markdown tables: kernels_cuda_bench. Attention in
// TFLOP/s, of the pairs that the mask allows, and products likewise; what is bound by memory in
// GB/s, beside a copy. Means over runs that follow each other, after some to warm up.
#include <fmt/format.h>

#include <limits>
#include <span>
#include <vector>

#include "kernels/arena.hpp"
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/rope.hpp"

namespace cpplan::kernels::test {
namespace {

using cuda::CudaOps;
using cuda::Event;
using cuda::EventTime;
using cuda::GradientOrder;

constexpr Index mebibyte = Index{1} << 20;

template <class F>
double mean_seconds(const CudaOps& ops, const F& f) {
  constexpr int warm_ups = 3, runs = 10;
  for (int i = 0; i < warm_ups; ++i) f();
  const Event begin(EventTime::told), end(EventTime::told);
  begin.record(ops.stream());
  for (int i = 0; i < runs; ++i) f();
  end.record(ops.stream());
  end.synchronize();
  return seconds_between(begin, end) / runs;
}

double tera_per_second(Flops flops, double seconds) {
  return static_cast<double>(flops.count) / seconds / 1e12;
}

/// Tensors of small random values, in memory that goes with the next clear().
class Bench {
 public:
  Bench() : block_(ops_.allocate({arena_bytes})), arena_(block_, {arena_bytes}) {}

  CudaOps& ops() { return ops_; }
  void clear() { arena_.clear(); }

  Tensor zeros(DType dtype, Index rows, Index cols) {
    const Tensor t = arena_.make(dtype, rows, cols);
    ops_(Fill{t, 0});
    return t;
  }
  /// Every row another, drawn on the host once and copied from there.
  Tensor random(DType dtype, Index rows, Index cols) {
    constexpr Index drawn = 64;
    const Tensor t = arena_.make(dtype, rows, cols);
    const Index first = std::min(drawn, rows);
    ops_(Normal{t.row_range(0, first), 7, 0, 0, cols, first, 0.5});
    for (Index i = first; i < rows; i += drawn) {
      const Index count = std::min(drawn, rows - i);
      ops_(Copy{t.row_range(0, count), t.row_range(i, count)});
    }
    return t;
  }
  Tensor ascending(Index rows, Index cols) {
    const Tensor t = arena_.make(DType::i32, rows, cols);
    std::vector<std::int32_t> values(static_cast<std::size_t>(t.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
    ops_(Upload{t, values.data()});
    return t;
  }

 private:
  static constexpr Index arena_bytes = Index{12} << 30;

  NoTrace trace_;
  CudaOps ops_{trace_, 0};
  std::byte* block_;
  Arena arena_;
};

struct AttentionShape {
  Index tokens, heads, kv_heads, head_dim;
  Band band;
};

struct AttentionCase {
  Block block;
  Attention forward;
  AttentionBackward backward;

  AttentionCase(Bench& bench, const AttentionShape& s)
      : block{{0, s.tokens, 0, 1}, {0, s.tokens, 0, 1}, {}, 0} {
    block.coverage = coverage(block.q, block.k, s.band);
    const Index width = s.heads * s.head_dim, kv_width = s.kv_heads * s.head_dim;
    const auto values = [&](Index cols) { return bench.random(DType::bf16, s.tokens, cols); };
    const auto sums = [&](Index cols) { return bench.zeros(DType::f32, s.tokens, cols); };
    forward = {.q = values(width), .k = values(kv_width), .v = values(kv_width)};
    forward.out = sums(width), forward.lse = sums(s.heads);
    forward.blocks = {&block, 1}, forward.band = s.band, forward.head_dim = s.head_dim;
    forward.scale = 1 / std::sqrt(static_cast<double>(s.head_dim));
    backward = {.q = forward.q, .k = forward.k, .v = forward.v, .out = values(width)};
    backward.dout = values(width), backward.lse = forward.lse;
    backward.dq = sums(width), backward.dk = sums(kv_width), backward.dv = sums(kv_width);
    backward.blocks = forward.blocks, backward.band = s.band;
    backward.head_dim = s.head_dim, backward.scale = forward.scale;
  }
};

void measure_attention(Bench& bench, const AttentionShape& s) {
  bench.clear();
  AttentionCase c(bench, s);
  CudaOps& ops = bench.ops();
  const cuda::DeviceMemory room(cuda::attention_workspace(c.backward));
  const std::span<std::byte> workspace(room.data(), static_cast<std::size_t>(room.bytes().count));
  ops(Fill{c.forward.lse, -std::numeric_limits<double>::infinity()});
  const double forward = mean_seconds(ops, [&] { ops(c.forward); });
  const auto backward = [&](GradientOrder order) {
    return mean_seconds(
        ops, [&] { cuda::attention_backward(c.backward, order, workspace, ops.stream()); });
  };
  const double fixed = backward(GradientOrder::fixed), any = backward(GradientOrder::any);
  const Flops flops = c.forward.cost().flops, flops_back = c.backward.cost().flops;
  fmt::print("| {} | {} | {} / {} | {} | {:.0f} | {:.0f} | {:.0f} |\n", s.head_dim, s.tokens,
             s.heads, s.kv_heads, s.band.right == 0 ? "causal" : "full",
             tera_per_second(flops, forward), tera_per_second(flops_back, fixed),
             tera_per_second(flops_back, any));
}

void measure_attentions(Bench& bench) {
  constexpr Index width = 4096;  // heads * head_dim
  fmt::print(
      "| head dim | tokens | heads / kv | mask | forward TFLOP/s | backward, fixed order | "
      "backward, any order |\n|---:|---:|---:|---|---:|---:|---:|\n");
  for (const Index head_dim : {64, 96, 128, 256})
    for (const Index tokens : {2048, 8192, 16384})
      for (const Band band : {causal, bidirectional}) {
        const Index heads = width / head_dim / 4 * 4;
        measure_attention(bench, {tokens, heads, heads / 4, head_dim, band});
      }
}

void measure_product(Bench& bench, Index m, Index n, Index k, bool transpose_b) {
  bench.clear();
  const Gemm op{
      .a = bench.random(DType::bf16, m, k),
      .b = transpose_b ? bench.random(DType::bf16, n, k) : bench.random(DType::bf16, k, n),
      .c = bench.zeros(DType::bf16, m, n),
      .transpose_b = transpose_b};
  const double seconds = mean_seconds(bench.ops(), [&] { bench.ops()(op); });
  fmt::print("| {} x {} x {}{} | {:.0f} |\n", m, n, k, transpose_b ? ", b transposed" : "",
             tera_per_second(op.cost().flops, seconds));
}

void measure_products(Bench& bench) {
  fmt::print("\n| product in bf16 (m x n x k) | TFLOP/s |\n|---|---:|\n");
  measure_product(bench, 8192, 8192, 8192, true);
  measure_product(bench, 8192, 4096, 4096, true);
  measure_product(bench, 8192, 14336, 4096, false);
}

template <class Op>
void measure_rows(Bench& bench, const Op& op, double copy) {
  const double seconds = mean_seconds(bench.ops(), [&] { bench.ops()(op); });
  const Cost cost = op.cost();
  const double rate = static_cast<double>((cost.read + cost.written).count) / seconds / 1e9;
  if (copy == 0) copy = rate;
  fmt::print("| {} | {:.0f} | {:.0f} % |\n", Op::name, rate, 100 * rate / copy);
}

double copy_rate(Bench& bench, const Copy& op) {
  const double seconds = mean_seconds(bench.ops(), [&] { bench.ops()(op); });
  return 2 * static_cast<double>(op.x.bytes().count) / seconds / 1e9;
}

void measure_memory_bound(Bench& bench) {
  constexpr Index n = 16384, h = 4096;
  constexpr auto bf16 = DType::bf16, f32 = DType::f32;
  bench.clear();
  const Tensor x = bench.random(bf16, n, h), y = bench.random(bf16, n, h);
  const Tensor z = bench.random(bf16, n, h), weight = bench.random(bf16, 1, h);
  const Tensor wide = bench.random(bf16, n, 2 * h), wide_too = bench.zeros(bf16, n, 2 * h);
  const Tensor rstd = bench.zeros(f32, n, 1), dweight = bench.zeros(f32, 1, h);
  const Tensor names = bench.ascending(n, 2), positions = names.col_range(0, 1);
  const Dropout dropout{.key = 1, .rate = 0.1};
  const double copy = copy_rate(bench, {x, y});
  fmt::print("\n| {} MiB of bf16 | GB/s | of a copy |\n|---|---:|---:|\n", n * h * 2 / mebibyte);
  measure_rows(bench, Copy{x, y}, copy);
  measure_rows(bench, RmsNorm{x, weight, y, rstd}, copy);
  measure_rows(bench, RmsNormBackward{x, weight, rstd, y, z, dweight}, copy);
  const auto frequencies = rope_frequencies(128, 10000);
  measure_rows(bench, Rope{x, positions, frequencies}, copy);
  measure_rows(bench, SwiGlu{wide, y}, copy);
  measure_rows(bench, SwiGluBackward{wide, y, wide_too}, copy);
  measure_rows(bench, DropoutAdd{x, y, z, names, dropout}, copy);
  measure_rows(bench, DropoutBackward{y, z, names, dropout}, copy);
  measure_rows(bench, Add{x, y}, copy);
  measure_rows(bench, SquaredNorm{x, bench.zeros(DType::f64, 1, 1)}, copy);
  const auto state = [&] { return bench.zeros(f32, n, h); };
  AdamW update{.p = state(), .g = state(), .m = state(), .v = state(), .rounded = x};
  measure_rows(bench, update, copy);
}

}  // namespace
}  // namespace cpplan::kernels::test

int main() {
  using namespace cpplan::kernels;
  if (cuda::find_devices().count == 0) return 77;
  const auto device = cuda::device_properties(0);
  fmt::print("{}, {} multiprocessors, {} GiB\n\n", device.name, device.multiprocessors,
             device.memory.count >> 30);
  test::Bench bench;
  test::measure_attentions(bench);
  test::measure_products(bench);
  test::measure_memory_bound(bench);
}
