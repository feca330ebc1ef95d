#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance tolerance{5e-7, "an exponential of 1 ulp, a division, a few products"};

/// Gates from -100 to 100: both tails of the sigmoid.
Matrix gates(Index n, Index f) {
  return scaled(random_matrix(n, 2 * f, 1), 100);
}

}  // namespace

std::vector<Case> activation_cases() {
  std::vector<Case> cases;
  for (const auto& [n, f] : {std::pair<Index, Index>{1, 1}, {5, 19}, {67, 130}, {0, 8}}) {
    const std::string shape = fmt::format("{}x{}", n, f);
    cases.push_back({SwiGlu::name, shape, tolerance, [n = n, f = f](Session& s) {
                       const SwiGlu op{s.values(gates(n, f)), s.poisoned(n, f)};
                       s.ops()(op);
                       return std::vector{s.read(op.y)};
                     }});
    cases.push_back({SwiGluBackward::name, shape, tolerance, [n = n, f = f](Session& s) {
                       const SwiGluBackward op{s.values(gates(n, f)),
                                               s.values(random_matrix(n, f, 2)),
                                               s.poisoned(n, 2 * f)};
                       s.ops()(op);
                       return std::vector{s.read(op.dgate_up)};
                     }});
    cases.push_back(
        {SwiGluBackward::name, shape + " in place", tolerance, [n = n, f = f](Session& s) {
           const Tensor gate_up = s.values(gates(n, f));
           s.ops()(SwiGluBackward{gate_up, s.values(random_matrix(n, f, 2)), gate_up});
           return std::vector{s.read(gate_up)};
         }});
  }
  return cases;
}

}  // namespace cpplan::kernels::test
