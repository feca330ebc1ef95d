#include <fmt/format.h>

#include "kernels/cases/case.hpp"
#include "kernels/rope.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance tolerance{3e-7, "angles are computed in double; two products and a sum in f32"};

/// What a rotation is of: base frequencies, some of them turned slower, and a magnitude.
struct Rotation {
  Index head_dim = 0;
  double theta = 10000, slowed = 1, magnitude = 1;
};

std::vector<double> frequencies_of(const Rotation& rotation) {
  auto frequencies = rope_frequencies(rotation.head_dim, rotation.theta);
  for (std::size_t j = frequencies.size() / 2; j < frequencies.size(); ++j)
    frequencies[j] /= rotation.slowed;
  return frequencies;
}

Case rope_case(Index n, Index heads, Rotation rotation, bool inverse) {
  const auto& [head_dim, theta, slowed, magnitude] = rotation;
  const auto name = fmt::format("{}x{}x{} theta {} slowed {} magnitude {}{}", n, heads, head_dim,
                                theta, slowed, magnitude, inverse ? " inverse" : "");
  return {Rope::name, name, tolerance, [n, heads, rotation, inverse](Session& s) {
            Matrix positions = random_indices(n, 1, 0, 200000, 2);
            const double corners[] = {0, 1, 511, 512, 513, 131071, -1};
            for (Index i = 0; i < n && i < 7; ++i) positions(i, 0) = corners[i];
            const auto frequencies = frequencies_of(rotation);
            const Rope op{s.values(random_matrix(n, heads * rotation.head_dim, 1)),
                          s.indices(positions), frequencies, rotation.magnitude, inverse};
            s.ops()(op);
            return std::vector{s.read(op.x)};
          }};
}

}  // namespace

std::vector<Case> rope_cases() {
  return {rope_case(9, 3, {64}, false),         rope_case(9, 3, {64}, true),
          rope_case(70, 1, {6, 500000}, false), rope_case(1, 2, {2}, false),
          rope_case(33, 2, {128, 1e6}, true),   rope_case(0, 2, {8}, false),
          rope_case(9, 2, {10, 1e4, 8}, false), rope_case(9, 1, {6, 1e4, 4, 1.1386}, true)};
}

}  // namespace cpplan::kernels::test
