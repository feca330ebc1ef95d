// What the host backend promises beside its ops.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/failure.hpp"
#include "kernels/arena.hpp"
#include "kernels/cases/attention_problem.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "kernels/cpu/fast_exp.hpp"
#include "kernels/meta/meta_ops.hpp"

namespace cpplan::kernels::test {

TEST_CASE("cpu: exp is good to one ulp and exact at its ends") {
  double worst = 0;
  for (float x = -87; x < 88; x += 0.00137f) {
    const double exact = std::exp(static_cast<double>(x));
    const auto rounded = static_cast<float>(exact);
    const double ulp = static_cast<double>(std::nextafter(rounded, 1e38f)) - rounded;
    worst = std::max(worst, std::abs(static_cast<double>(cpu::fast_exp(x)) - exact) / ulp);
  }
  CHECK(worst < 1.01);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(cpu::fast_exp(0) == 1);
  CHECK(cpu::fast_exp(-infinity) == 0);
  CHECK(cpu::fast_exp(-88) == 0);
  CHECK(cpu::fast_exp(infinity) == infinity);
  CHECK(std::isnan(cpu::fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("cpu: arenas are aligned and no memory is a Failure") {
  NoTrace trace;
  const auto ops = make_cpu_ops(trace);
  for (const Index bytes : {0, 1, 100000}) {
    std::byte* const block = ops->allocate({bytes});
    REQUIRE(block != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % Arena::alignment == 0);
  }
  CHECK_THROWS_AS(ops->allocate({Index{1} << 60}), Failure);
}

TEST_CASE("meta: blocks of any size lie apart and aligned") {
  NoTrace trace;
  const auto ops = make_meta_ops(trace);
  const std::byte* const first = ops->allocate({Index{1} << 44});
  const std::byte* const second = ops->allocate({1});
  const std::byte* const third = ops->allocate({0});
  CHECK(second - first >= (Index{1} << 44) + 4096);
  CHECK(third - second >= 4096);
  for (const std::byte* block : {first, second, third})
    CHECK(reinterpret_cast<std::uintptr_t>(block) % Arena::alignment == 0);
}

TEST_CASE("cpu: the progress hook is called between tiles") {
  Session s(cpu_backend);
  const AttentionProblem problem = dense("", 300, causal);
  const AttentionInputs inputs = random_inputs(problem);
  const Attention forward = make_attention(s, problem, inputs);
  int calls = 0;
  set_progress(s.ops(), [&] { ++calls; });
  s.ops()(forward);
  CHECK(calls >= 5);
  const int after_forward = calls;
  s.ops()(make_backward(s, forward, inputs));
  CHECK(calls >= 2 * after_forward);
  set_progress(s.ops(), {});
  const int before = calls;
  s.ops()(forward);
  CHECK(calls == before);
}

TEST_CASE("normal: a shard of a parameter is that part of the whole") {
  for (const Backend* backend : {&cpu_backend, &reference_backend}) {
    Session s(*backend);
    const Tensor whole = s.poisoned(30, 20), shard = s.poisoned(7, 9);
    s.ops()(Normal{whole, 42, 0, 0, 20, 28, 0.5});
    s.ops()(Normal{shard, 42, 23, 6, 20, 28, 0.5});
    CHECK(difference(s.read(shard), cols_of(rows_of(s.read(whole), 23, 7), 6, 9), 0) == "");
    CHECK(difference(rows_of(s.read(shard), 5, 2), filled(2, 9, 0), 0) == "");  // padding rows
  }
}

TEST_CASE("normal: mean and variance and tails are those of a normal distribution") {
  Session s(cpu_backend);
  const Index n = 100000;
  const Tensor x = s.poisoned(100, 1000);
  s.ops()(Normal{x, 7, 0, 0, 1000, 100, 2.0});
  double sum = 0, squares = 0, beyond = 0;
  for (const double value : s.read(x).values)
    sum += value / 2, squares += value * value / 4, beyond += std::abs(value) > 2 * 1.959964;
  CHECK(std::abs(sum / n) < 4 / std::sqrt(n));
  CHECK(std::abs(squares / n - 1) < 4 * std::sqrt(2.0 / n));
  CHECK(std::abs(beyond / n - 0.05) < 4 * std::sqrt(0.05 * 0.95 / n));
}

}  // namespace cpplan::kernels::test
