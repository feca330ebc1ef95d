// Attention over ranks is attention: whatever the way to other ranks' keys, the split of the
// sequence and the mask, in fp64 out, lse, dq, dk and dv are those of one dense softmax, padding is
// exactly zero, and what goes over the wire is what the closed formulas say.
#include "engine/attention_check.hpp"

namespace cpplan::test {
namespace {

/// Sanitizers cost an order of magnitude: there, as many as go every way.
#ifdef CPPLAN_SANITIZED
constexpr std::size_t stride = 8;
#else
constexpr std::size_t stride = 1;
#endif

}  // namespace

TEST_CASE("attention: any three of degree and way and split and mask and heads and documents") {
  const auto cases = covering_attention_cases();
  CHECK(cases.size() >= 7 * 6 * 5);  // degrees, masks and documents alone
  for (std::size_t i = 0; i < cases.size(); i += stride) check_attention(cases[i]);
}

}  // namespace cpplan::test
