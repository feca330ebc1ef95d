#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance tolerance{2e-7, "one product and one sum"};

Dropout dropout(double rate) {
  return {0x1234567890ABCDEFull, 4 * 3 + 1, 5, rate};
}

/// Tokens of three samples, every fourth row padding.
Matrix token_rows(Index n) {
  Matrix rows = filled(n, 2, 0);
  for (Index i = 0; i < n; ++i) {
    rows(i, 0) = i % 4 == 3 ? -1 : static_cast<double>(1000 * i);
    rows(i, 1) = static_cast<double>(i % 3);
  }
  return rows;
}

std::vector<Matrix> run_forward(Session& s, Index n, Index h, double rate) {
  const DropoutAdd op{s.values(random_matrix(n, h, 1)), s.values(random_matrix(n, h, 2)),
                      s.poisoned(n, h), s.indices(token_rows(n)), dropout(rate)};
  s.ops()(op);
  return {s.read(op.y)};
}

std::vector<Matrix> run_forward_in_place(Session& s, Index n, Index h, double rate) {
  const Tensor x = s.values(random_matrix(n, h, 1));
  s.ops()(
      DropoutAdd{x, s.values(random_matrix(n, h, 2)), x, s.indices(token_rows(n)), dropout(rate)});
  return {s.read(x)};
}

std::vector<Matrix> run_backward(Session& s, Index n, Index h, double rate) {
  const DropoutBackward op{s.values(random_matrix(n, h, 1)), s.poisoned(n, h),
                           s.indices(token_rows(n)), dropout(rate)};
  s.ops()(op);
  return {s.read(op.dbranch)};
}

}  // namespace

std::vector<Case> dropout_cases() {
  std::vector<Case> cases;
  for (const auto& [n, h] : {std::pair<Index, Index>{1, 1}, {9, 37}, {33, 200}, {0, 8}})
    for (const double rate : {0.0, 0.1, 0.75}) {
      const std::string shape = fmt::format("{}x{} rate {}", n, h, rate);
      const auto with = [n = n, h = h, rate](auto run) {
        return [=](Session& s) { return run(s, n, h, rate); };
      };
      cases.push_back({DropoutAdd::name, shape, tolerance, with(run_forward)});
      cases.push_back(
          {DropoutAdd::name, shape + " in place", tolerance, with(run_forward_in_place)});
      cases.push_back({DropoutBackward::name, shape, tolerance, with(run_backward)});
    }
  return cases;
}

}  // namespace cpplan::kernels::test
