#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance copies{0, "rows are copied"};
constexpr Tolerance sums{1e-6, "a token that comes often is a sum of as many rows"};

// A shard of 20 rows from row 10 on; tokens of a vocabulary of 40.
constexpr Index shard_rows = 20, first_row = 10, vocabulary = 40;

Tensor tokens(Session& s, Index n) {
  return s.indices(random_indices(n, 1, 0, vocabulary, 1));
}

}  // namespace

std::vector<Case> embedding_cases() {
  std::vector<Case> cases;
  for (const auto& [n, h] : {std::pair<Index, Index>{1, 1}, {100, 19}, {64, 64}, {0, 8}}) {
    const std::string shape = fmt::format("{}x{}", n, h);
    cases.push_back({Embed::name, shape, copies, [n = n, h = h](Session& s) {
                       const Embed op{tokens(s, n), s.values(random_matrix(shard_rows, h, 2)),
                                      s.poisoned(n, h), first_row};
                       s.ops()(op);
                       return std::vector{s.read(op.y)};
                     }});
    cases.push_back({EmbedBackward::name, shape, sums, [n = n, h = h](Session& s) {
                       const EmbedBackward op{tokens(s, n), s.values(random_matrix(n, h, 2)),
                                              s.accumulated(random_matrix(shard_rows, h, 3)),
                                              first_row};
                       s.ops()(op);
                       return std::vector{s.read(op.dweight)};
                     }});
  }
  return cases;
}

}  // namespace cpplan::kernels::test
