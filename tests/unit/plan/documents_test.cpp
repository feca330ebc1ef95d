#include "plan/documents.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using plan::document_multiple;
using plan::lay_out_documents;

namespace {

layout::ParallelDims dims(int tp, int cp, bool sequence_parallel) {
  return {.tp = tp, .cp = cp, .sequence_parallel = sequence_parallel};
}

}  // namespace

TEST_CASE("documents: padding leaves whole chunks to every rank") {
  CHECK(document_multiple(dims(1, 2, false)) == 4);
  CHECK(document_multiple(dims(4, 4, false)) == 8);
  CHECK(document_multiple(dims(4, 4, true)) == 16);  // lcm(2 * 4, 4) = 8 leaves 2 rows over 4
  CHECK(document_multiple(dims(3, 2, true)) == 12);
  CHECK(document_multiple(dims(1, 1, false)) == 1);
  CHECK(document_multiple(dims(4, 1, true)) == 4);
}

TEST_CASE("documents: valid and padded offsets are kept apart") {
  const Index lengths[] = {4, 8, 6, 10};
  const auto documents = lay_out_documents(lengths, dims(1, 2, false));
  REQUIRE(documents);
  CHECK(documents->padded_lengths == std::vector<Index>{4, 8, 8, 12});
  CHECK(documents->cu_seqlens == std::vector<Index>{0, 4, 12, 18, 28});
  CHECK(documents->cu_seqlens_padded == std::vector<Index>{0, 4, 12, 20, 32});
  CHECK(documents->tokens_per_rank == 16);
}

TEST_CASE("documents: causal work counts valid pairs within documents alone") {
  const Index lengths[] = {4, 8, 6, 10};  // 10 + 36 + 21 + 55 pairs
  const auto documents = lay_out_documents(lengths, dims(1, 2, false));
  REQUIRE(documents);
  for (const auto* work : {&documents->head_tail, &documents->contiguous, &documents->striped})
    CHECK(work->pairs[0] + work->pairs[1] == 122);
  // Head-tail, rank 0: (1 + 4) + (1 + 2 + 7 + 8) + (1 + 2) + (1 + 2 + 3 + 10).
  CHECK(documents->head_tail.pairs[0] == 42);
  CHECK(documents->head_tail.imbalance == doctest::Approx(80 / 61.0));
}

TEST_CASE("documents: what has no layout has none") {
  CHECK_FALSE(lay_out_documents({}, dims(1, 2, false)));
  const Index negative[] = {-1}, huge[] = {Index{1} << 40};
  CHECK_FALSE(lay_out_documents(negative, dims(1, 2, false)));
  CHECK_FALSE(lay_out_documents(huge, dims(1, 2, false)));
  const Index empty[] = {0};
  const auto documents = lay_out_documents(empty, dims(1, 2, false));
  REQUIRE(documents);
  CHECK(documents->head_tail.imbalance == 1);
}
