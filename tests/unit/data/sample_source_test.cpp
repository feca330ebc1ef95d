#include "data/sample_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "data/row_order.hpp"

namespace cpplan::data {
namespace {

/// Row r repeats byte r, so that a token tells its row.
Rows labelled_rows(int count, Index longest) {
  std::mt19937 random(3);
  Rows rows;
  for (int r = 0; r < count; ++r)
    rows.emplace_back(2 + random() % (longest - 1), static_cast<std::uint8_t>(r));
  return rows;
}

/// Rows of a sample, in order.
std::vector<Index> rows_of(const Sample& sample) {
  std::vector<Index> rows;
  Index token = 0;
  for (const Index length : sample.documents) {
    rows.push_back(sample.tokens[token]);
    token += length;
  }
  return rows;
}

TEST_CASE("labels are the next token of the same document and -1 at its end") {
  const SampleSource source({{1, 2, 3}, {7, 8}},
                            {.sequence_len = 5, .packing = true, .shuffle = false});
  const Sample sample = source.at(0);
  CHECK(sample.documents == std::vector<Index>{3, 2});
  CHECK(sample.tokens == std::vector<std::int32_t>{1, 2, 3, 7, 8});
  CHECK(sample.labels == std::vector<std::int32_t>{2, 3, -1, 8, -1});
}

TEST_CASE("bytes above 127 are tokens above 127") {
  const SampleSource source({{0xff, 0x80, 0x00}}, {.sequence_len = 3});
  CHECK(source.at(0).tokens == std::vector<std::int32_t>{255, 128, 0});
}

TEST_CASE("every epoch holds every row once") {
  constexpr int count = 40;
  for (const bool packing : {false, true})
    for (const bool shuffle : {false, true}) {
      CAPTURE(packing);
      CAPTURE(shuffle);
      const SampleSource source(
          labelled_rows(count, 30),
          {.seed = 1, .sequence_len = 32, .packing = packing, .shuffle = shuffle});
      Index sample = 0;
      for (int epoch = 0; epoch < 3; ++epoch) {
        std::map<Index, int> seen;
        for (Index read = 0; read < count; ++sample)
          for (const Index row : rows_of(source.at(sample))) ++seen[row], ++read;
        CHECK(seen.size() == count);
        if (epoch == 0) CHECK(sample == source.samples_per_epoch());
      }
    }
}

TEST_CASE("a sample holds at most sequence_len tokens and its lengths are told alone") {
  const Rows rows = labelled_rows(60, 30);
  const SampleSource source(rows, {.sequence_len = 32, .packing = true});
  CHECK(source.row_count() == 60);
  CHECK(source.samples_per_epoch() < 60);
  for (Index n = 0; n < 3 * source.samples_per_epoch(); ++n) {
    const Sample sample = source.at(n);
    CHECK(sample.tokens.size() <= 32);
    CHECK(sample.labels.size() == sample.tokens.size());
    CHECK(source.lengths(n) == sample.documents);
    for (const Index row : rows_of(sample)) CHECK(row < 60);
  }
}

TEST_CASE("bins are filled first fit in the epoch's order") {
  const SampleSource source({{1, 1, 1, 1}, {2, 2, 2}, {3, 3}, {4, 4}},
                            {.sequence_len = 6, .packing = true, .shuffle = false});
  CHECK(rows_of(source.at(0)) == std::vector<Index>{1, 3});
  CHECK(rows_of(source.at(1)) == std::vector<Index>{2, 4});
  CHECK(source.samples_per_epoch() == 2);
}

TEST_CASE("order is a permutation that depends on seed and epoch") {
  std::vector<Index> sorted = row_order(1, 100, 0);
  std::ranges::sort(sorted);
  for (Index row = 0; row < 100; ++row) CHECK(sorted[row] == row);
  CHECK(row_order(1, 100, 0) == row_order(1, 100, 0));
  CHECK(row_order(1, 100, 0) != row_order(1, 100, 1));
  CHECK(row_order(1, 100, 0) != row_order(2, 100, 0));
}

TEST_CASE("rows keep their relative order when more are added") {
  const auto small = row_order(9, 50, 0);
  auto large = row_order(9, 80, 0);
  std::erase_if(large, [](Index row) { return row >= 50; });
  CHECK(large == small);  // a row's place is keyed by its own number
}

TEST_CASE("samples are the same whoever asks first and from any thread") {
  const SampleOptions options{.seed = 4, .sequence_len = 32, .packing = true};
  const SampleSource in_order(labelled_rows(50, 30), options),
      shared(labelled_rows(50, 30), options);
  std::vector<Sample> expected;
  for (Index n = 0; n < 100; ++n) expected.push_back(in_order.at(n));
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (Index n = 99 - t; n >= 0; n -= 4)
          wrong[t] += shared.at(n).tokens != expected[n].tokens;
      });
  }
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("synthetic rows are a function of the seed and have structure to learn") {
  const Rows rows = synthetic_rows(1, 200, 64);
  CHECK(rows.size() == 200);
  for (const auto& row : rows) CHECK(row.size() == 64);
  CHECK(rows == synthetic_rows(1, 200, 64));
  CHECK(rows != synthetic_rows(2, 200, 64));
  CHECK(rows[0] != rows[1]);
  const TextEntropy text = entropy(rows);
  CHECK(text.unigram > 4.0);
  CHECK(text.bigram < 1.5);
}

TEST_CASE("entropy of known distributions") {
  CHECK(entropy({{1, 1, 1, 1}}).unigram == 0);
  CHECK(entropy({{1, 2, 1, 2}}).unigram == doctest::Approx(0.6931471805599453));
  CHECK(entropy({{1, 2, 1, 2, 1}}).bigram == 0);
  CHECK(entropy({{1, 1, 2}, {1, 1, 2}}).bigram == doctest::Approx(0.6931471805599453));
  CHECK(entropy({{1, 2}, {3, 4}}).bigram == 0);  // nothing follows across rows
}

}  // namespace
}  // namespace cpplan::data
