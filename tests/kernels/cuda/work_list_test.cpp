// The work lists of attention: every pair of every block is some owner's, and no two owners of a
// list have the same row.
#include <doctest/doctest.h>

#include "kernels/cases/attention_problem.hpp"
#include "kernels/cuda/attention_blocks.hpp"

namespace cpplan::kernels::test {
namespace {

using cuda::Owner;
using cuda::work_lists;
using cuda::WorkList;

constexpr Index tile = 32;

/// Documents of ten tokens behind each other.
std::vector<Block> documents(Index count) {
  std::vector<Block> blocks;
  for (Index n = 0; n < count; ++n)
    blocks.push_back(block(rows(10 * n, 10, 0), rows(10 * n, 10, 0), causal, n));
  return blocks;
}

Index pairs_of(const std::vector<WorkList>& lists) {
  Index pairs = 0;
  for (const WorkList& list : lists)
    for (int b = 0; b < list.count; ++b)
      pairs += Index{list.blocks[b].q_count} * list.blocks[b].k_count;
  return pairs;
}

}  // namespace

TEST_CASE("work lists: more blocks than a launch takes are several lists") {
  const auto lists = work_lists(documents(100), Owner::queries, tile);
  REQUIRE(lists.size() == 2);
  CHECK(lists[0].count == WorkList::capacity);
  CHECK(lists[0].tiles == WorkList::capacity);
  CHECK(lists[1].tiles == 100 - WorkList::capacity);
  CHECK(pairs_of(lists) == 100 * 100);
}

TEST_CASE("work lists: blocks with the same rows share their tiles wherever they stand") {
  const Run a = rows(0, 70, 0), b = rows(70, 40, 70);
  const std::vector<Block> blocks = {block(a, a, bidirectional), block(a, b, bidirectional),
                                     block(b, a, bidirectional), block(b, b, bidirectional)};
  for (const Owner owner : {Owner::queries, Owner::keys}) {
    const auto lists = work_lists(blocks, owner, tile);
    REQUIRE(lists.size() == 1);
    CHECK(lists[0].tiles == 3 + 2);
    CHECK(lists[0].blocks[1].end_tile == 3);
    CHECK(lists[0].blocks[2].end_tile == 5);
    CHECK((owner == Owner::keys ? lists[0].blocks[1].k_row : lists[0].blocks[1].q_row) == 0);
  }
}

TEST_CASE("work lists: rows that overlap and differ are owned one list after the other") {
  const std::vector<Block> blocks = {block(rows(0, 40, 0), rows(0, 8, 0), bidirectional),
                                     block(rows(20, 40, 20), rows(8, 8, 8), bidirectional),
                                     block(rows(60, 8, 60), rows(0, 8, 0), bidirectional)};
  CHECK(work_lists(blocks, Owner::queries, tile).size() == 2);
  CHECK(work_lists(blocks, Owner::keys, tile).size() == 1);
}

TEST_CASE("work lists: blocks without pairs are nobody's") {
  const std::vector<Block> blocks = {block(rows(0, 8, 0), rows(8, 8, 8), causal),
                                     {rows(0, 0, 0), rows(0, 8, 0)}};
  CHECK(work_lists(blocks, Owner::queries, tile).empty());
}

}  // namespace cpplan::kernels::test
