#include <fmt/format.h>

#include <limits>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

// The error of a sum of k products is about sqrt(k) roundings of its greatest terms; k <= 770.
constexpr Tolerance tolerance{2e-6, "sqrt(k) roundings of 6e-8, and products that cancel"};

struct Shape {
  Index m, n, k;
};
struct Form {
  bool transpose_a, transpose_b, accumulate;
};
/// c like the values, or as sums of them.
enum class Result : bool { values, sums };

std::vector<Matrix> run(Session& s, Shape shape, Form form, Result result) {
  const auto [m, n, k] = shape;
  const Matrix a = form.transpose_a ? random_matrix(k, m, 1) : random_matrix(m, k, 1);
  const Matrix b = form.transpose_b ? random_matrix(n, k, 2) : random_matrix(k, n, 2);
  const double poison = std::numeric_limits<double>::quiet_NaN();
  const Matrix before = form.accumulate ? random_matrix(m, n, 3) : filled(m, n, poison);
  const Tensor c = result == Result::sums ? s.accumulated(before) : s.values(before);
  s.ops()(Gemm{s.values(a), s.values(b), c, form.transpose_a, form.transpose_b, form.accumulate});
  return {s.read(c)};
}

void add_cases(std::vector<Case>& cases, Shape shape, Result result) {
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      for (const bool accumulate : {false, true})
        cases.push_back({Gemm::name,
                         fmt::format("{}x{}x{}{}{}{}{}", shape.m, shape.n, shape.k, a ? " a^T" : "",
                                     b ? " b^T" : "", accumulate ? " accumulate" : "",
                                     result == Result::sums ? " sums" : ""),
                         tolerance, [=](Session& s) {
                           return run(s, shape, {a, b, accumulate}, result);
                         }});
}

}  // namespace

std::vector<Case> gemm_cases() {
  std::vector<Case> cases;
  for (const Shape shape : {Shape{1, 1, 1},
                            {64, 64, 64},
                            {33, 65, 129},
                            {130, 17, 71},
                            {389, 13, 770},
                            {7, 390, 5},
                            {0, 5, 3},
                            {7, 5, 0}})
    add_cases(cases, shape, Result::values);
  for (const Shape shape : {Shape{33, 65, 129}, {389, 13, 770}, {7, 5, 0}})
    add_cases(cases, shape, Result::sums);
  return cases;
}

}  // namespace cpplan::kernels::test
