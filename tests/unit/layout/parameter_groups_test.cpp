#include "layout/parameter_groups.hpp"

#include <doctest/doctest.h>

#include <set>

namespace cpplan::layout {

TEST_CASE("parameter groups: one copy is all of DP x CP") {
  const Ranks ranks({2, 3, 1, 2});
  for (int rank = 0; rank < ranks.world(); ++rank) {
    CHECK(shard_group(ranks, rank, 1).members() == ranks.group(rank, Dim::dp, Dim::cp).members());
    CHECK(replicate_group(ranks, rank, 1).members() == std::vector<int>{rank});
  }
}

TEST_CASE("parameter groups: copies lie over the outer part of DP") {
  const Ranks ranks({1, 2, 1, 4});  // rank = cp + 2 dp
  CHECK(shard_group(ranks, 0, 2).members() == std::vector<int>{0, 1, 2, 3});
  CHECK(shard_group(ranks, 6, 2).members() == std::vector<int>{4, 5, 6, 7});
  CHECK(replicate_group(ranks, 2, 2).members() == std::vector<int>{2, 6});
  CHECK(replicate_group(ranks, 7, 2).members() == std::vector<int>{3, 7});
  CHECK(shard_group(ranks, 5, 4).members() == std::vector<int>{4, 5});
}

TEST_CASE("parameter groups: shards times copies are the world under any order") {
  const Order reversed = {Dim::dp, Dim::pp, Dim::cp, Dim::tp, Dim::ep};
  const Ranks ranks({2, 3, 2, 4}, reversed);
  for (const int replicate : {1, 2, 4}) {
    for (int rank = 0; rank < ranks.world(); ++rank) {
      std::set<int> met;
      for (const int peer : shard_group(ranks, rank, replicate).members()) {
        const auto copies = replicate_group(ranks, peer, replicate).members();
        met.insert(copies.begin(), copies.end());
      }
      const auto all = ranks.group(rank, Dim::dp, Dim::cp).members();
      CHECK(met == std::set<int>(all.begin(), all.end()));
    }
  }
}

}  // namespace cpplan::layout
