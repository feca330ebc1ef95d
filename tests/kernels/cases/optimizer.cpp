#include <fmt/format.h>

#include <cmath>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance squares{1e-14, "squares of f32 are exact in double, their sum nearly"};
constexpr Tolerance update{4e-7, "rounded coefficients and a handful of operations in f32"};

std::vector<Matrix> run_adamw(Session& s, Index rows, Index cols, Index step) {
  Matrix second = random_matrix(rows, cols, 4);
  for (double& v : second.values) v = std::abs(v);
  AdamW op{s.accumulated(random_matrix(rows, cols, 1)), s.accumulated(random_matrix(rows, cols, 2)),
           s.accumulated(random_matrix(rows, cols, 3)), s.accumulated(second),
           s.poisoned(rows, cols)};
  op.learning_rate = 0.01, op.beta2 = 0.95, op.weight_decay = 0.1, op.grad_scale = 0.25;
  op.step = step;
  s.ops()(op);
  return {s.read(op.p), s.read(op.m), s.read(op.v), s.read(op.rounded)};
}

std::vector<Matrix> run_squared_norm(Session& s, Index rows, Index cols) {
  const SquaredNorm op{s.values(random_matrix(rows, cols, 1)), s.sums(filled(1, 1, 77))};
  s.ops()(op);
  return {s.read(op.out)};
}

}  // namespace

std::vector<Case> optimizer_cases() {
  std::vector<Case> cases;
  for (const auto& [r, c] : {std::pair<Index, Index>{1, 1}, {5, 19}, {67, 130}, {0, 8}}) {
    const std::string shape = fmt::format("{}x{}", r, c);
    cases.push_back({SquaredNorm::name, shape, squares,
                     [r = r, c = c](Session& s) { return run_squared_norm(s, r, c); }});
    for (const Index step : {1, 1000})
      cases.push_back({AdamW::name, fmt::format("{} step {}", shape, step), update,
                       [r = r, c = c, step](Session& s) { return run_adamw(s, r, c, step); }});
  }
  return cases;
}

}  // namespace cpplan::kernels::test
