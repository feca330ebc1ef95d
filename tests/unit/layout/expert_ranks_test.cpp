#include "layout/expert_ranks.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using namespace cpplan::layout;

namespace {

std::vector<std::vector<int>> lists(const std::vector<Group>& groups) {
  std::vector<std::vector<int>> lists;
  for (const Group& group : groups) lists.push_back(group.members());
  return lists;
}

using Lists = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE("expert ranks: EP lies inside DP in Megatron") {
  const auto dims = expert_dims(8, 2, 2, 1);
  REQUIRE(dims);
  CHECK(dims->edp == 2);
  CHECK(lists(expert_groups(*dims, megatron_order, Dim::ep)) ==
        Lists{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(lists(expert_groups(*dims, megatron_order, Dim::dp)) ==
        Lists{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
}

TEST_CASE("expert ranks: experts of one TP rank spread over the TP group of attention") {
  const auto dims = expert_dims(8, 1, 4, 2);
  REQUIRE(dims);
  CHECK(lists(expert_groups(*dims, megatron_order, Dim::ep)) == Lists{{0, 1, 2, 3}, {4, 5, 6, 7}});
  const auto pp_before_dp = *parse_order("tp-cp-ep-pp-dp");
  CHECK(lists(expert_groups({1, 2, 2, 2}, pp_before_dp, Dim::dp)) ==
        Lists{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
}

TEST_CASE("expert ranks: degrees that do not divide the world give no grid") {
  CHECK_FALSE(expert_dims(8, 3, 1, 1));
  CHECK_FALSE(expert_dims(4, 2, 4, 1));
  CHECK_FALSE(expert_dims(8, Index{1} << 40, Index{1} << 40, 1));
}

TEST_CASE("expert ranks: EP is the slowest dimension in axolotl") {
  CHECK(lists(outermost_groups(8, 2)) == Lists{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
}
