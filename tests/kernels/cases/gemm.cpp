#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

// The error of a sum of k products is about sqrt(k) roundings of its greatest terms; k <= 129.
constexpr Tolerance tolerance{2e-6, "sqrt(k) roundings of 6e-8, and products that cancel"};

Case gemm_case(Index m, Index n, Index k, bool transpose_a, bool transpose_b, bool accumulate) {
  return {Gemm::name,
          fmt::format("{}x{}x{}{}{}{}", m, n, k, transpose_a ? " a^T" : "",
                      transpose_b ? " b^T" : "", accumulate ? " accumulate" : ""),
          tolerance, [=](Session& s) {
            const Matrix a = transpose_a ? random_matrix(k, m, 1) : random_matrix(m, k, 1);
            const Matrix b = transpose_b ? random_matrix(n, k, 2) : random_matrix(k, n, 2);
            const Tensor c = accumulate ? s.values(random_matrix(m, n, 3)) : s.poisoned(m, n);
            s.ops()(Gemm{s.values(a), s.values(b), c, transpose_a, transpose_b, accumulate});
            return std::vector{s.read(c)};
          }};
}

}  // namespace

std::vector<Case> gemm_cases() {
  struct Shape {
    Index m, n, k;
  };
  std::vector<Case> cases;
  for (const auto [m, n, k] :
       {Shape{1, 1, 1}, {64, 64, 64}, {33, 65, 129}, {130, 17, 71}, {0, 5, 3}, {7, 5, 0}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const bool accumulate : {false, true})
          cases.push_back(gemm_case(m, n, k, transpose_a, transpose_b, accumulate));
  return cases;
}

}  // namespace cpplan::kernels::test
