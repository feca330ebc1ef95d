// Every op on every backend and type, over one list of cases: the host backend agrees with the fp64
// reference, twice the same bits, and the meta backend runs all of it on no memory.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

/// Rows one after the other, and rows apart by a gap that leaves none of them aligned.
constexpr Index gaps[] = {0, 3};

const Backend* const host_backends[] = {&cpu_backend, &cpu_bf16_backend};

std::string describe(const Case& c, const Backend& backend, Index gap) {
  return fmt::format("{} {} on {} gap {}", c.op, c.shape, backend.name, gap);
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.values.size() == b.values.size() &&
         (a.values.empty() ||
          std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0);
}

}  // namespace

TEST_CASE("ops: the cpu backend agrees with the reference") {
  for (const Backend* backend : host_backends)
    for (const Case& c : all_cases()) {
      Session reference(reference_for(*backend));
      const std::vector<Matrix> expected = c.run(reference);
      for (const Index gap : gaps) {
        CAPTURE(describe(c, *backend, gap));
        CAPTURE(std::string(c.tolerance.reason));
        Session cpu(*backend, gap);
        const std::vector<Matrix> actual = c.run(cpu);
        REQUIRE(actual.size() == expected.size());
        for (std::size_t output = 0; output < actual.size(); ++output) {
          CAPTURE(output);
          CHECK(difference(actual[output], expected[output], c.tolerance.of(*backend)) == "");
        }
      }
    }
}

TEST_CASE("ops: the cpu backend gives the same bits twice") {
  for (const Backend* backend : host_backends)
    for (const Case& c : all_cases()) {
      CAPTURE(describe(c, *backend, 0));
      Session first(*backend), second(*backend);
      const std::vector<Matrix> a = c.run(first), b = c.run(second);
      for (std::size_t output = 0; output < a.size(); ++output)
        CHECK(same_bits(a[output], b[output]));
    }
}

TEST_CASE("ops: the meta backend leaves what is downloaded untouched") {
  for (const Backend* backend : {&meta_backend, &meta_bf16_backend})
    for (const Case& c : all_cases()) {
      CAPTURE(describe(c, *backend, 3));
      Session meta(*backend, 3);
      for (const Matrix& output : c.run(meta))
        CHECK(same_bits(output, filled(output.rows, output.cols, 0)));  // as the host made it
    }
}

TEST_CASE("ops: every op has a case on every backend") {
  const std::vector<Case> cases = all_cases();
  const auto tested = [&](std::string_view op, const Backend& backend) {
    int count = 0;
    for (const Case& c : cases) {
      if (c.op != op) continue;
      Session session(backend);
      c.run(session);
      count += session.trace().calls(op) > 0;
    }
    return count;
  };
  fmt::print("{:<24} {:>5} {:>9} {:>5}\n", "op (cases)", "cpu", "reference", "meta");
  AllOps::each([&]<class Op>() {
    const int cpu = tested(Op::name, cpu_backend), meta = tested(Op::name, meta_backend);
    const int reference = tested(Op::name, reference_backend);
    fmt::print("{:<24} {:>5} {:>9} {:>5}\n", Op::name, cpu, reference, meta);
    CAPTURE(Op::name);
    CHECK(cpu > 0);
    CHECK(reference > 0);
    CHECK(meta > 0);
  });
}

}  // namespace cpplan::kernels::test
