#include <doctest/doctest.h>

#include "record/stragglers.hpp"

using namespace cpplan;
using namespace cpplan::record;

namespace {

/// Ranks 2 and 3 share a tp group; rank 3 computes longer than the rest.
RunRecord with_busy(double of_rank_3) {
  RunRecord record;
  for (int rank = 0; rank < 4; ++rank) record.waits.ranks.push_back({rank, 1.0, 0.5});
  record.waits.ranks[3] = {3, of_rank_3, 1.5 - of_rank_3};
  record.waits.groups = {{"tp", {0, 1}, {0.25, 0.125}},
                         {"tp", {2, 3}, {0.375, 0.0625}},
                         {"world", {0, 1, 2, 3}, {0.25, 0.25, 0.125, 0.0625}}};
  return record;
}

}  // namespace

TEST_CASE("stragglers: the rank that waits least is the one the others wait for") {
  const GroupWaits group{"cp", {4, 6, 8}, {0.5, 0.125, 0.25}};
  CHECK(straggler_of(group) == 6);
  CHECK(held_up(group) == 0.375);
}

TEST_CASE("stragglers: a slow rank is named with the groups that wait for it") {
  CHECK(
      straggler_sentences(with_busy(1.5)) ==
      std::vector<std::string>{
          "rank 3 holds the others up: it computes 1.5 s of its steps, the rank in the middle 1 s",
          "in tp {2, 3} rank 2 waits 0.375 s for it",
          "in world {0, 1, 2, 3} rank 0 waits 0.25 s for it"});
}

TEST_CASE("stragglers: ranks that are alike and a single one are not worth a word") {
  CHECK(straggler_sentences(with_busy(1.1)).empty());
  RunRecord record;
  CHECK(straggler_sentences(record).empty());
  record.waits.ranks = {{0, 1.0, 0.0}};
  CHECK(straggler_sentences(record).empty());
}

TEST_CASE("stragglers: of two ranks the slower one is told from the other") {
  RunRecord record;
  record.waits.ranks = {{0, 1.0, 0.5}, {1, 1.5, 0.0}};
  record.waits.groups = {{"world", {0, 1}, {0.5, 0.0}}};
  CHECK(
      straggler_sentences(record) ==
      std::vector<std::string>{
          "rank 1 holds the others up: it computes 1.5 s of its steps, the rank in the middle 1 s",
          "in world {0, 1} rank 0 waits 0.5 s for it"});
}
