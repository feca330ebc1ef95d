// Every op on a CUDA device, over the list of cases that all backends walk: in the emulator, and,
// built once more for the real runtime, on hardware.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/failure.hpp"
#include "kernels/cases/case.hpp"
#include "kernels/cuda/cuda_ops.hpp"

namespace cpplan::kernels::test {
namespace {

std::unique_ptr<Ops> make_first_device(Trace& trace) {
  return cuda::make_cuda_ops(trace, 0);
}
const Backend cuda_backend{"cuda", make_first_device, DType::f32, DType::f32};
const Backend cuda_bf16_backend{"cuda bf16", make_first_device, DType::bf16, DType::bf16};
const Backend* const device_backends[] = {&cuda_backend, &cuda_bf16_backend};

bool is_attention(const Case& c) {
  return c.op == Attention::name || c.op == AttentionBackward::name;
}

/// Tensor cores take probabilities in bf16: attention_test.cpp holds them to the error of the plain
/// formula in bf16, of which this is the coarse form.
double tolerance_of(const Case& c, const Backend& backend) {
  constexpr double probabilities_in_bf16 = 2e-2;
  const double usual = c.tolerance.of(backend);
  const bool rounded = is_attention(c) && backend.real == DType::bf16;
  return rounded ? std::max(usual, probabilities_in_bf16) : usual;
}

std::string describe(const Case& c, const Backend& backend, Index gap) {
  return fmt::format("{} {} on {} gap {}", c.op, c.shape, backend.name, gap);
}

/// Whether the case has run its op.
bool check_against_reference(const Case& c, const Backend& backend, Index gap,
                             const std::vector<Matrix>& expected) {
  CAPTURE(describe(c, backend, gap));
  CAPTURE(std::string(c.tolerance.reason));
  Session device(backend, gap);
  const std::vector<Matrix> actual = c.run(device);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t output = 0; output < actual.size(); ++output) {
    CAPTURE(output);
    CHECK(difference(actual[output], expected[output], tolerance_of(c, backend)) == "");
  }
  return device.trace().calls(c.op) > 0;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.values.size() == b.values.size() &&
         (a.values.empty() ||
          std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0);
}

}  // namespace

namespace {

/// Sanitizers cost an order of magnitude: there, attention has a test of its own alone.
bool is_tested(const Case& c) {
#ifdef CPPLAN_SANITIZED
  return !is_attention(c);
#else
  return c.run != nullptr;
#endif
}

/// Rows one after the other, and apart by a gap that leaves none of them aligned.
std::vector<Index> gaps_of(const Case& c) {
  if (is_attention(c)) return {0};
  return {0, 3};
}

using Tested = std::map<std::string_view, std::map<std::string, int>>;

Tested check_all_cases() {
  Tested tested;
  for (const Backend* backend : device_backends)
    for (const Case& c : all_cases()) {
      if (!is_tested(c)) continue;
      Session reference(reference_for(*backend));
      const std::vector<Matrix> expected = c.run(reference);
      for (const Index gap : gaps_of(c))
        tested[c.op][backend->name] += check_against_reference(c, *backend, gap, expected);
    }
  return tested;
}

}  // namespace

TEST_CASE("ops: the cuda backend agrees with the reference and every op has a case") {
  Tested tested = check_all_cases();
  fmt::print("{:<24} {:>5} {:>9}\n", "op (sessions)", "cuda", "cuda bf16");
  for (const Case& c : all_cases()) {
    if (!is_tested(c)) continue;
    CAPTURE(c.op);
    CHECK(tested[c.op]["cuda"] > 0);
    CHECK(tested[c.op]["cuda bf16"] > 0);
  }
  AllOps::each([&]<class Op>() {
    auto& sessions = tested[Op::name];
    fmt::print("{:<24} {:>5} {:>9}\n", Op::name, sessions["cuda"], sessions["cuda bf16"]);
    CAPTURE(Op::name);
    CHECK(std::ranges::any_of(all_cases(), [](const Case& c) { return c.op == Op::name; }));
  });
}

TEST_CASE("ops: a device that has no more memory is a Failure that says what to do") {
  NoTrace trace;
  const auto ops = cuda::make_cuda_ops(trace, 0);
  try {
    ops->allocate({Index{1} << 60});
    FAIL("no device has an exbibyte");
  } catch (const Failure& failure) {
    const std::string words = failure.what();
    CHECK(words.find("cudaMalloc") == 0);
    CHECK(words.find("device 0") != std::string::npos);
    CHECK(words.find("use more ranks") != std::string::npos);
  }
}

/// Of sums, in which threads of several blocks may have come in any order.
TEST_CASE("ops: the cuda backend gives the same bits twice") {
  for (const Case& c : all_cases()) {
    const bool sums = c.op == RmsNormBackward::name || c.op == EmbedBackward::name ||
                      c.op == SquaredNorm::name || c.op == LossSum::name;
    if (!sums) continue;
    CAPTURE(describe(c, cuda_bf16_backend, 0));
    Session first(cuda_bf16_backend), second(cuda_bf16_backend);
    const std::vector<Matrix> a = c.run(first), b = c.run(second);
    for (std::size_t output = 0; output < a.size(); ++output)
      CHECK(same_bits(a[output], b[output]));
  }
}

}  // namespace cpplan::kernels::test
