#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance forward{1e-6, "one mean of squares and two products a value"};
constexpr Tolerance backward{4e-6, "dweight is a sum over rows, dx takes off a mean over columns"};

RmsNorm normalise(Session& s, Index n, Index h) {
  RmsNorm op{s.values(random_matrix(n, h, 1)), s.values(random_matrix(1, h, 2)), s.poisoned(n, h),
             s.poisoned_accumulator(n, 1), 1e-3};
  s.ops()(op);
  return op;
}

std::vector<Matrix> run_forward(Session& s, Index n, Index h) {
  const RmsNorm op = normalise(s, n, h);
  return {s.read(op.y), s.read(op.rstd)};
}

std::vector<Matrix> run_backward(Session& s, Index n, Index h) {
  const RmsNorm f = normalise(s, n, h);
  const RmsNormBackward op{f.x,
                           f.weight,
                           f.rstd,
                           s.values(random_matrix(n, h, 3)),
                           s.values(random_matrix(n, h, 4)),
                           s.accumulated(random_matrix(1, h, 5))};
  s.ops()(op);
  return {s.read(op.dx), s.read(op.dweight)};
}

}  // namespace

std::vector<Case> norm_cases() {
  std::vector<Case> cases;
  for (const auto& [n, h] :
       {std::pair<Index, Index>{1, 1}, {5, 17}, {150, 130}, {3, 512}, {0, 8}}) {
    const std::string shape = fmt::format("{}x{}", n, h);
    cases.push_back({RmsNorm::name, shape, forward,
                     [n = n, h = h](Session& s) { return run_forward(s, n, h); }});
    cases.push_back({RmsNormBackward::name, shape, backward,
                     [n = n, h = h](Session& s) { return run_backward(s, n, h); }});
  }
  return cases;
}

}  // namespace cpplan::kernels::test
