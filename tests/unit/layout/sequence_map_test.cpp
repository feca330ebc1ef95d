#include "layout/sequence_map.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <tuple>

namespace cpplan::layout {
namespace {

using kernels::Coverage;
using kernels::pairs;
using Lengths = std::vector<DocumentLength>;
using TokenId = std::tuple<Index, Index>;  // sample, index

constexpr Split splits[] = {Split::head_tail, Split::contiguous, Split::striped};
constexpr int rank_counts[] = {1, 2, 3, 4, 5, 8};
const Lengths batches[] = {
    {{16, 0}},
    {{1, 0}},
    {{0, 0}},
    {{31, 0}},
    {{0, 0}, {1, 0}, {7, 0}},
    {{13, 0}, {0, 0}, {5, 1}, {1, 1}},
    {{7, 0}, {7, 1}, {7, 2}},
    {{3, 0}, {5, 2}, {0, 2}, {9, 2}, {0, 3}},
};
const Band bands[] = {kernels::causal, kernels::bidirectional, kernels::sliding_window(1),
                      kernels::sliding_window(5), Band{4, 3}};

void for_every_map(auto check) {
  for (const Split split : splits)
    for (const int ranks : rank_counts)
      for (const Lengths& lengths : batches)
        for (const Index rows_multiple : {1, 3}) {
          CAPTURE(static_cast<int>(split));
          CAPTURE(ranks);
          CAPTURE(lengths.size());
          CAPTURE(rows_multiple);
          check(SequenceMap::padded(split, ranks, lengths, rows_multiple), lengths);
        }
}

/// Every token of the batch with the number of its document.
std::map<TokenId, std::size_t> documents_of_tokens(const Lengths& lengths) {
  std::map<TokenId, std::size_t> documents;
  std::map<Index, Index> next;
  for (std::size_t d = 0; d < lengths.size(); ++d)
    for (Index i = 0; i < lengths[d].tokens; ++i)
      documents[{lengths[d].sample, next[lengths[d].sample]++}] = d;
  return documents;
}

TokenId token_id(const Token& t) {
  return {t.sample, t.index};
}

TEST_CASE("every token has one place and its index restarts at each sample") {
  for_every_map([](const SequenceMap& map, const Lengths& lengths) {
    const auto expected = documents_of_tokens(lengths);
    std::map<TokenId, std::size_t> found;
    for (int rank = 0; rank < map.ranks(); ++rank)
      for (Index row = 0; row < map.rows(); ++row)
        if (const Token t = map.at(rank, row); t.index >= 0) {
          REQUIRE(found.emplace(token_id(t), t.document).second);
          CHECK(t.position < lengths[t.document].tokens);
        }
    CHECK(found == expected);
    CHECK(map.tokens() == static_cast<Index>(expected.size()));
  });
}

TEST_CASE("find is the inverse of at") {
  for_every_map([](const SequenceMap& map, const Lengths&) {
    for (int rank = 0; rank < map.ranks(); ++rank)
      for (Index row = 0; row < map.rows(); ++row) {
        const Token t = map.at(rank, row);
        const Place place = map.find(t.document, t.position);
        REQUIRE(place.rank == rank);
        REQUIRE(place.row == row);
      }
  });
}

TEST_CASE("segments list the rows in order and say what at says") {
  for_every_map([](const SequenceMap& map, const Lengths&) {
    for (int rank = 0; rank < map.ranks(); ++rank) {
      Index next = 0;
      for (const Segment& s : map.segments(rank)) {
        REQUIRE(s.row == next);
        next += s.count;
        for (Index i = 0; i < s.count; ++i) {
          const Token t = map.at(rank, s.row + i);
          REQUIRE(t.document == s.document);
          REQUIRE(t.position == s.position + i * s.stride);
          REQUIRE((t.index >= 0) == (i < s.valid));
        }
      }
      CHECK(next == map.rows());
    }
  });
}

using Covered = std::map<std::tuple<Index, Index, Index>, int>;  // sample, q, k

/// Counts the allowed pairs of a block; its runs must name the tokens that lie in those rows.
void cover(const SequenceMap& map, int q_rank, int k_rank, Index k_row, const Block& b, Band band,
           Covered& covered) {
  Index allowed = 0;
  for (Index i = 0; i < b.q.count; ++i)
    for (Index j = 0; j < b.k.count; ++j) {
      const Index q = b.q.first + i * b.q.stride, k = b.k.first + j * b.k.stride;
      REQUIRE(token_id(map.at(q_rank, b.q.row + i)) == TokenId{b.sample, q});
      REQUIRE(token_id(map.at(k_rank, b.k.row - k_row + j)) == TokenId{b.sample, k});
      if (band.allows(q, k)) ++covered[{b.sample, q, k}], ++allowed;
    }
  CHECK(b.coverage != Coverage::none);
  CHECK((b.coverage == Coverage::all) == (allowed == b.q.count * b.k.count));
  CHECK(allowed == pairs(b.q, b.k, band));
}

Covered allowed_pairs(const Lengths& lengths, Band band) {
  Covered pairs;
  const auto documents = documents_of_tokens(lengths);
  for (const auto& [q, q_document] : documents)
    for (const auto& [k, k_document] : documents)
      if (q_document == k_document && band.allows(std::get<1>(q), std::get<1>(k)))
        pairs[{std::get<0>(q), std::get<1>(q), std::get<1>(k)}] = 1;
  return pairs;
}

TEST_CASE("the steps of a ring cover every allowed pair exactly once and no other") {
  for (const Band band : bands)
    for_every_map([&](const SequenceMap& map, const Lengths& lengths) {
      Covered covered;
      for (int rank = 0; rank < map.ranks(); ++rank)
        for (int step = 0; step < map.ranks(); ++step) {
          const int owner = owner_at(rank, step, map.ranks());
          const Index k_row = owner * map.rows();  // as in an all-gather
          for (const Block& b : map.blocks(rank, owner, band, k_row))
            cover(map, rank, owner, k_row, b, band, covered);
        }
      CHECK(covered == allowed_pairs(lengths, band));
    });
}

TEST_CASE("blocks of equal queries stand together") {
  for_every_map([](const SequenceMap& map, const Lengths&) {
    for (int rank = 0; rank < map.ranks(); ++rank) {
      Index previous = -1;
      for (const Block& b : map.blocks(rank, map.ranks() - 1 - rank, kernels::bidirectional)) {
        CHECK(b.q.row >= previous);
        previous = b.q.row;
      }
    }
  });
}

TEST_CASE("work is the sum of the blocks' allowed pairs") {
  for (const Band band : bands)
    for_every_map([&](const SequenceMap& map, const Lengths&) {
      for (int rank = 0; rank < map.ranks(); ++rank) {
        Index sum = 0;
        for (int owner = 0; owner < map.ranks(); ++owner)
          for (const Block& b : map.blocks(rank, owner, band)) sum += pairs(b.q, b.k, band);
        CHECK(map.work(rank, band) == sum);
      }
    });
}

TEST_CASE("head-tail gives every rank the same causal work and contiguous almost twice the mean") {
  constexpr int ranks = 8;
  constexpr Index tokens = Index{1} << 20, mean = tokens * (tokens + 1) / 2 / ranks;
  const std::vector<Document> one = {{tokens, tokens, 0}};
  const SequenceMap head_tail(Split::head_tail, ranks, one),
      contiguous(Split::contiguous, ranks, one);
  for (int rank = 0; rank < ranks; ++rank) CHECK(head_tail.work(rank, kernels::causal) == mean);
  const auto greatest = static_cast<double>(contiguous.work(ranks - 1, kernels::causal));
  CHECK(greatest / static_cast<double>(mean) == doctest::Approx(1.875).epsilon(1e-5));
}

TEST_CASE("a head-tail ring step costs every rank the same") {
  constexpr Index half = 4;
  for (const int ranks : {2, 3, 4, 5, 8}) {
    const SequenceMap map(Split::head_tail, ranks, {{2 * ranks * half, 2 * ranks * half, 0}});
    for (int rank = 0; rank < ranks; ++rank)
      for (int step = 0; step < ranks; ++step) {
        Index work = 0;
        for (const Block& b : map.blocks(rank, owner_at(rank, step, ranks), kernels::causal))
          work += pairs(b.q, b.k, kernels::causal);
        CHECK(work == (step == 0 ? half * (2 * half + 1) : 2 * half * half));
      }
  }
}

TEST_CASE("TransformerEngine's example of a packed head-tail partition") {
  const SequenceMap map(Split::head_tail, 4, {{8, 8, 0}, {8, 8, 0}, {8, 8, 0}, {16, 16, 0}});
  const Index rank_0[] = {0, 7, 0, 7, 0, 7, 0, 1, 14, 15},
              rank_3[] = {3, 4, 3, 4, 3, 4, 6, 7, 8, 9};
  REQUIRE(map.rows() == 10);
  for (Index row = 0; row < map.rows(); ++row) {
    CHECK(map.at(0, row).position == rank_0[row]);
    CHECK(map.at(3, row).position == rank_3[row]);
  }
}

TEST_CASE("padding lengthens documents and not the indices of their tokens") {
  const Lengths lengths = {{3, 0}, {5, 0}, {2, 1}};
  const auto map = SequenceMap::padded(Split::head_tail, 2, lengths);
  CHECK(map.documents() == std::vector<Document>{{3, 4, 0}, {5, 8, 0}, {2, 4, 1}});
  CHECK(map.at(0, 1).index == -1);  // position 3 of a document of 3 tokens
  CHECK(map.at(0, 1).position == 3);
  CHECK(map.at(0, 2).index == 3);  // the second document's first token
  CHECK(map.at(0, 6).index == 0);  // the second sample's first token
  CHECK(map.at(0, 6).sample == 1);
}

TEST_CASE("rows divide by rows_multiple and reach the capacity") {
  for (const Split split : splits)
    for (const int ranks : rank_counts) {
      const Lengths lengths = {{7, 0}, {9, 0}};
      const Index needed = SequenceMap::padded(split, ranks, lengths).rows();
      const Index rows = SequenceMap::padded(split, ranks, lengths, 3).rows();
      CHECK(rows % 3 == 0);
      CHECK(rows >= needed);
      CHECK(rows < needed + 6);
      const auto map = SequenceMap::padded(split, ranks, lengths, 3, 60);
      CHECK(map.rows() == 60);
      CHECK(map.tokens() == 16);
      CHECK(map.documents().back().valid == 0);
    }
}

void check_moves(const SequenceMap& map, int size) {
  const SequenceMap whole = map.merged(size);
  REQUIRE(whole.rows() == map.rows() * size);
  for (int group = 0; group < whole.ranks(); ++group) {
    std::vector<int> filled(whole.rows());
    for (int member = 0; member < size; ++member)
      for (const Move& move : map.moves(size, group, member))
        for (Index i = 0; i < move.count; ++i) {
          ++filled[move.to + i];
          const Token from = map.at(group * size + member, move.from + i);
          const Token to = whole.at(group, move.to + i);
          REQUIRE(from.document == to.document);
          REQUIRE(from.position == to.position);
          REQUIRE(from.index == to.index);
        }
    for (const int times : filled) REQUIRE(times == 1);
  }
}

TEST_CASE("an all-to-all leads to the map of fewer ranks") {
  for_every_map([](const SequenceMap& map, const Lengths&) {
    for (int size = 1; size <= map.ranks(); ++size) {
      const bool stripes_stay_apart =
          map.split() == Split::striped && size != 1 && size != map.ranks();
      if (map.ranks() % size == 0 && !stripes_stay_apart) check_moves(map, size);
    }
  });
}

}  // namespace
}  // namespace cpplan::layout
