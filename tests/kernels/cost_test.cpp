// FLOPs and bytes of every op against numbers worked by hand. Shapes are small and their numbers
// all different, so that a wrong factor cannot hide.
#include <doctest/doctest.h>

#include "kernels/backend.hpp"

namespace cpplan::kernels {
namespace {

Tensor f32(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::f32};
}
Tensor bf16(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::bf16};
}
Tensor i32(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::i32};
}
Tensor f64(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::f64};
}

template <class Op>
void check_cost(const Op& op, Index flops, Index read, Index written) {
  CAPTURE(Op::name);
  op.check();
  const Cost cost = op.cost();
  CHECK(cost.flops.count == flops);
  CHECK(cost.read.count == read);
  CHECK(cost.written.count == written);
}

}  // namespace

TEST_CASE("cost: products") {
  check_cost(Gemm{f32(3, 5), f32(5, 7), f32(3, 7), false, false, false}, 210, 200, 84);
  check_cost(Gemm{f32(5, 3), f32(7, 5), f32(3, 7), true, true, true}, 210, 284, 84);
  check_cost(Gemm{bf16(3, 5), bf16(5, 7), f32(3, 7), false, false, false}, 210, 100, 84);
}

TEST_CASE("cost: norms and rope and activation") {
  check_cost(RmsNorm{f32(3, 8), f32(1, 8), f32(3, 8), f32(3, 1), 0}, 96, 128, 108);
  check_cost(RmsNormBackward{f32(3, 8), f32(1, 8), f32(3, 1), f32(3, 8), f32(3, 8), f32(1, 8)}, 240,
             364, 128);
  const double frequencies[] = {1, 0.01};
  check_cost(Rope{f32(3, 8), i32(3, 1), frequencies}, 72, 108, 96);
  check_cost(SwiGlu{f32(3, 16), f32(3, 8)}, 144, 192, 96);
  check_cost(SwiGluBackward{f32(3, 16), f32(3, 8), f32(3, 16)}, 288, 288, 192);
}

TEST_CASE("cost: dropout and embedding") {
  const Dropout half{0, 0, 0, 0.5};
  check_cost(DropoutAdd{f32(3, 8), f32(3, 8), f32(3, 8), i32(3, 2), half}, 48, 216, 96);
  check_cost(DropoutAdd{f32(3, 8), f32(3, 8), f32(3, 8), i32(3, 2), {}}, 24, 216, 96);
  check_cost(DropoutBackward{f32(3, 8), f32(3, 8), i32(3, 2), half}, 24, 120, 96);
  check_cost(Embed{i32(3, 1), f32(100, 8), f32(3, 8), 0}, 0, 108, 96);
  check_cost(EmbedBackward{i32(3, 1), f32(3, 8), f32(100, 8), 0}, 24, 204, 96);
}

TEST_CASE("cost: cross-entropy looks at valid columns alone") {
  check_cost(RowMax{f32(3, 10), f32(3, 1), 7}, 21, 84, 12);
  check_cost(SumExp{f32(3, 10), f32(3, 1), i32(3, 1), f32(3, 2), 0, 7}, 63, 108, 24);
  check_cost(LossSum{f32(3, 1), f32(3, 2), i32(3, 1), f64(1, 2)}, 12, 64, 16);
  check_cost(CrossEntropyBackward{f32(3, 10), f32(3, 1), f32(3, 2), i32(3, 1), 0, 7}, 63, 132, 120);
}

TEST_CASE("cost: optimizer and moves") {
  check_cost(SquaredNorm{f32(3, 8), f64(1, 1)}, 48, 96, 8);
  check_cost(AdamW{.p = f32(3, 8), .g = f32(3, 8), .m = f32(3, 8), .v = f32(3, 8)}, 408, 384, 288);
  std::byte somewhere{};
  Tensor weights = bf16(3, 8);
  weights.data = &somewhere;
  check_cost(
      AdamW{.p = f32(3, 8), .g = f32(3, 8), .m = f32(3, 8), .v = f32(3, 8), .rounded = weights},
      408, 384, 336);
  check_cost(Fill{f32(3, 8), 0}, 0, 0, 96);
  check_cost(Copy{bf16(3, 8), f32(3, 8)}, 0, 48, 96);
  check_cost(Add{f32(3, 8), f32(3, 8)}, 24, 192, 96);
  check_cost(Normal{f32(3, 8), 0, 0, 0, 8, 3, 1}, 0, 0, 96);
  check_cost(Upload{f32(3, 8), nullptr}, 0, 0, 96);
  check_cost(Download{f32(3, 8), nullptr}, 0, 96, 0);
}

namespace {

Attention attention(std::span<const Block> blocks, Band band) {
  return {.q = f32(8, 12),
          .k = f32(8, 6),
          .v = f32(8, 6),
          .out = f32(8, 12),
          .lse = f32(8, 2),
          .blocks = blocks,
          .band = band,
          .head_dim = 6};
}

AttentionBackward attention_backward(const Attention& f) {
  return {.q = f.q,
          .k = f.k,
          .v = f.v,
          .out = f.out,
          .dout = f.out,
          .lse = f.lse,
          .dq = f.q,
          .dk = f.k,
          .dv = f.v,
          .blocks = f.blocks,
          .band = f.band,
          .head_dim = f.head_dim};
}

}  // namespace

TEST_CASE("cost: attention counts allowed pairs and equal queries once") {
  const Run q{0, 8, 0, 1};
  // 8 x 8 causal: 36 pairs; q 384, k and v 384, state (384 + 64) read and written
  const Block whole[] = {{q, q, Coverage::partial, 0}};
  check_cost(attention(whole, causal), 4 * 36 * 12, 384 + 384 + 448, 448);
  // q, out, dout, lse, dq: 384 * 4 + 64; k, v, dk, dv: 192 * 4
  check_cost(attention_backward(attention(whole, causal)), 10 * 36 * 12, 1600 + 768, 768);
  // window of 3: 1 + 2 + 6 * 3 = 21
  check_cost(attention(whole, sliding_window(3)), 4 * 21 * 12, 1216, 448);
  // the same keys in two blocks of the same queries; the second allows all 8 * 2 pairs
  const Block parts[] = {{q, {2, 6, 2, 1}, Coverage::partial, 0},
                         {q, {0, 2, 0, 1}, Coverage::all, 0}};
  check_cost(attention(parts, causal), 4 * (21 + 16) * 12, 384 + 384 + 448, 448);
  // what no query sees costs nothing
  const Block none[] = {{q, {0, 8, 9, 1}, Coverage::none, 0}};
  check_cost(attention(none, causal), 0, 0, 0);
}

}  // namespace cpplan::kernels
