#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance tolerance{3e-7, "angles are computed in double; two products and a sum in f32"};

Case rope_case(Index n, Index heads, Index head_dim, double theta, bool inverse) {
  return {Rope::name,
          fmt::format("{}x{}x{} theta {}{}", n, heads, head_dim, theta, inverse ? " inverse" : ""),
          tolerance, [=](Session& s) {
            Matrix positions = random_indices(n, 1, 0, 200000, 2);
            const double corners[] = {0, 1, 511, 512, 513, 131071, -1};
            for (Index i = 0; i < n && i < 7; ++i) positions(i, 0) = corners[i];
            const Rope op{s.values(random_matrix(n, heads * head_dim, 1)), s.indices(positions),
                          head_dim, theta, inverse};
            s.ops()(op);
            return std::vector{s.read(op.x)};
          }};
}

}  // namespace

std::vector<Case> rope_cases() {
  return {rope_case(9, 3, 64, 10000, false),  rope_case(9, 3, 64, 10000, true),
          rope_case(70, 1, 6, 500000, false), rope_case(1, 2, 2, 10000, false),
          rope_case(33, 2, 128, 1e6, true),   rope_case(0, 2, 8, 10000, false)};
}

}  // namespace cpplan::kernels::test
