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

TEST_CASE("parameter groups: tied tables are on the first and the last stage") {
  const Ranks ranks({2, 1, 4, 1});  // rank = tp + 2 pp
  CHECK(embedding_group(ranks, 1).members() == std::vector<int>{1, 7});
  CHECK(embedding_group(ranks, 6).members() == std::vector<int>{0, 6});
  CHECK(embedding_group(ranks, 3).members() == std::vector<int>{3});
  CHECK(embedding_group(Ranks({2, 1, 1, 3}), 3).members() == std::vector<int>{3});
}

TEST_CASE("parameter groups: neighbours in TP share KV heads") {
  const Ranks ranks({4, 2, 1, 1});
  CHECK(kv_group(ranks, 5, 2).members() == std::vector<int>{4, 5});
  CHECK(kv_group(ranks, 2, 2).members() == std::vector<int>{2, 3});
  CHECK(kv_group(ranks, 6, 4).members() == std::vector<int>{4, 5, 6, 7});
  CHECK(kv_group(ranks, 6, 1).members() == std::vector<int>{6});
}

}  // namespace cpplan::layout
