// A wrong shape or type ends the process with 70 before any kernel sees it. Each case breaks one
// demand of an op that is otherwise right, in a child process.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "kernels/backend.hpp"

namespace cpplan::kernels {
namespace {

template <class Op>
bool passes(const Op& op) {
  std::cout.flush();  // or the child prints it once more
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    op.check();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WEXITSTATUS(status);
  REQUIRE((WIFEXITED(status) && (code == 0 || code == 70)));
  return code == 0;
}

Tensor f32(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::f32};
}
Tensor bf16(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::bf16};
}
Tensor i32(Index rows, Index cols) {
  return {nullptr, rows, cols, cols, DType::i32};
}

}  // namespace

TEST_CASE("check: products") {
  CHECK(passes(Gemm{f32(3, 5), f32(5, 7), f32(3, 7), false, false, false}));
  CHECK(passes(Gemm{bf16(3, 5), bf16(5, 7), f32(3, 7), false, false, false}));
  CHECK_FALSE(passes(Gemm{f32(3, 5), f32(7, 5), f32(3, 7), false, false, false}));
  CHECK_FALSE(passes(Gemm{f32(3, 5), f32(5, 7), f32(3, 8), false, false, false}));
  CHECK_FALSE(passes(Gemm{f32(3, 5), bf16(5, 7), f32(3, 7), false, false, false}));
  CHECK_FALSE(passes(Gemm{i32(3, 5), i32(5, 7), i32(3, 7), false, false, false}));
  Tensor overlapping = f32(3, 7);
  overlapping.stride = 6;
  CHECK_FALSE(passes(Gemm{f32(3, 5), f32(5, 7), overlapping, false, false, false}));
}

TEST_CASE("check: attention") {
  const Block inside[] = {{{0, 8, 0, 1}, {0, 8, 0, 1}, Coverage::partial, 0}};
  const Block outside[] = {{{0, 8, 0, 1}, {4, 8, 0, 1}, Coverage::partial, 0}};
  const Attention right{.q = f32(8, 12),
                        .k = f32(8, 6),
                        .v = f32(8, 6),
                        .out = f32(8, 12),
                        .lse = f32(8, 4),
                        .blocks = inside,
                        .head_dim = 3};
  CHECK(passes(right));
  const auto broken = [&](auto change) {
    Attention op = right;
    change(op);
    return !passes(op);
  };
  CHECK(broken([](Attention& op) { op.head_dim = 5; }));
  CHECK(broken([](Attention& op) { op.k = op.v = f32(8, 9); }));  // 3 does not divide 4
  CHECK(broken([](Attention& op) { op.lse = f32(8, 3); }));
  CHECK(broken([](Attention& op) { op.dropout.rate = 1; }));
  CHECK(broken([&](Attention& op) { op.blocks = outside; }));
}

TEST_CASE("check: what keeps its sums in f32 where values are bf16") {
  CHECK(passes(EmbedBackward{i32(3, 1), bf16(3, 8), f32(9, 8), 0}));
  CHECK_FALSE(passes(EmbedBackward{i32(3, 1), bf16(3, 8), bf16(9, 8), 0}));
  const AdamW update{.p = f32(3, 8), .g = f32(3, 8), .m = f32(3, 8), .v = f32(3, 8)};
  const auto with_weights = [&](const Tensor& weights) {
    AdamW op = update;
    op.rounded = weights;
    return op;
  };
  std::byte somewhere{};
  const auto at = [&](Tensor t) { return t.data = &somewhere, t; };
  CHECK(passes(update));
  CHECK(passes(with_weights(at(bf16(3, 8)))));
  CHECK_FALSE(passes(with_weights(at(bf16(3, 9)))));
  CHECK_FALSE(passes(with_weights(at(i32(3, 8)))));
  CHECK_FALSE(passes(AdamW{.p = bf16(3, 8), .g = bf16(3, 8), .m = bf16(3, 8), .v = bf16(3, 8)}));
  AttentionBackward op{.q = bf16(8, 12), .k = bf16(8, 6), .v = bf16(8, 6), .out = bf16(8, 12)};
  op.dout = bf16(8, 12), op.lse = f32(8, 4), op.dq = f32(8, 12), op.dk = op.dv = f32(8, 6);
  op.head_dim = 3;
  CHECK(passes(op));
  op.out = f32(8, 12);
  CHECK_FALSE(passes(op));
}

TEST_CASE("check: indices and accumulators and transfers") {
  CHECK(passes(DropoutAdd{f32(3, 8), f32(3, 8), f32(3, 8), i32(3, 2), {}}));
  CHECK_FALSE(passes(DropoutAdd{f32(3, 8), f32(3, 8), f32(3, 8), i32(3, 1), {}}));
  CHECK_FALSE(passes(DropoutAdd{f32(3, 8), f32(3, 8), f32(3, 8), f32(3, 2), {}}));
  CHECK(passes(RmsNorm{bf16(3, 8), bf16(1, 8), bf16(3, 8), f32(3, 1), 0}));
  CHECK_FALSE(passes(RmsNorm{bf16(3, 8), bf16(1, 8), bf16(3, 8), bf16(3, 1), 0}));
  CHECK_FALSE(passes(SquaredNorm{f32(3, 8), f32(1, 1)}));
  const double frequencies[] = {1, 0.01};
  CHECK_FALSE(passes(Rope{f32(3, 9), i32(3, 1), frequencies}));
  CHECK_FALSE(passes(Rope{f32(3, 8), i32(3, 1), {}}));
  CHECK_FALSE(passes(Copy{f32(3, 8), i32(3, 8)}));
  CHECK_FALSE(passes(RowMax{f32(3, 8), f32(3, 1), 9}));
  Tensor apart = f32(3, 8);
  apart.stride = 9;
  CHECK_FALSE(passes(Upload{apart, nullptr}));
}

}  // namespace cpplan::kernels
