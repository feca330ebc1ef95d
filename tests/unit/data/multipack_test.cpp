#include "data/multipack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "data/permutation.hpp"

namespace cpplan::data {
namespace {

using Rows = std::vector<std::vector<Index>>;
using Lengths = std::vector<Length>;

Rows rows_of(const Bins& bins) {
  Rows rows;
  for (Index b = 0; b < bins.count(); ++b)
    rows.emplace_back(bins.items.begin() + bins.first[b], bins.items.begin() + bins.first[b + 1]);
  return rows;
}

/// The framework's loop as it stands: every row looks at every bin of its group.
Rows plain_first_fit(const Lengths& lengths, const PackingRules& rules) {
  Rows all;
  for (Index from = 0; from < std::ssize(lengths); from += rules.group_size) {
    std::vector<Index> room;
    Rows bins;
    const Index end = std::min(from + rules.group_size, std::ssize(lengths));
    for (Index row = from; row < end; ++row) {
      std::size_t bin = 0;
      while (bin < bins.size() &&
             !(room[bin] >= lengths[row] && std::ssize(bins[bin]) < rules.rows_per_bin))
        ++bin;
      if (bin == bins.size()) {
        room.push_back(rules.capacity);
        bins.emplace_back();
      }
      room[bin] -= lengths[row];
      bins[bin].push_back(row);
    }
    all.insert(all.end(), bins.begin(), bins.end());
  }
  return all;
}

Rows plain_next_fit(const Lengths& lengths, Index capacity) {
  Rows bins;
  std::vector<Index> bin;
  Index room = capacity;
  for (Index row = 0; row < std::ssize(lengths); ++row) {
    if (lengths[row] <= room) {
      bin.push_back(row);
      room -= lengths[row];
      continue;
    }
    if (!bin.empty()) bins.push_back(bin);
    bin = {row};
    room = capacity - lengths[row];
  }
  if (!bin.empty()) bins.push_back(bin);
  return bins;
}

struct Distribution {
  std::string name;
  Lengths lengths;
};

/// Up to `capacity`; the last is heavy-tailed (Pareto, 1.2).
std::vector<Distribution> distributions(Index count, Length capacity, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.001, 1);
  Lengths any(static_cast<std::size_t>(count)), tail = any, sorted, reversed;
  for (Length& length : any) length = static_cast<Length>(random() % capacity) + 1;
  for (Length& length : tail)
    length = std::min(capacity, static_cast<Length>(20 * std::pow(uniform(random), -1 / 1.2)));
  sorted = any;
  std::ranges::sort(sorted);
  reversed.assign(sorted.rbegin(), sorted.rend());
  return {{"random", any},
          {"sorted", sorted},
          {"reversed", reversed},
          {"all equal", Lengths(any.size(), capacity / 3)},
          {"heavy-tailed", tail}};
}

/// Counts and fills agree with the bins.
void check_count(const Lengths& lengths, const PackingRules& rules, const Rows& bins) {
  const BinCount count = count_bins(lengths, {}, rules, 7);
  CHECK(count.bins == std::ssize(bins));
  CHECK(count.tokens == std::accumulate(lengths.begin(), lengths.end(), Index{0}));
  REQUIRE(std::ssize(count.last_fills) == std::min<Index>(7, std::ssize(bins)));
  for (std::size_t i = 0; i < count.last_fills.size(); ++i) {
    Index fill = 0;
    for (const Index row : bins[bins.size() - count.last_fills.size() + i]) fill += lengths[row];
    CHECK(count.last_fills[i] == fill);
  }
}

TEST_CASE("multipack: the same bins as the framework's loop") {
  for (const Index group : {Index{1000}, Index{100'000}}) {
    for (const auto& [name, lengths] : distributions(12'000, 4096, 11)) {
      CAPTURE(group);
      CAPTURE(name);
      for (const Index limit : {Index{3}, Index{200}}) {
        const PackingRules rules{PackingMethod::first_fit, 8192, limit, group};
        const Rows wanted = plain_first_fit(lengths, rules);
        CHECK(rows_of(pack(lengths, rules)) == wanted);
        check_count(lengths, rules, wanted);
      }
    }
  }
}

TEST_CASE("multipack: small groups, limits and capacities") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    PackingRules rules;
    rules.capacity = 1 + random() % 40;
    rules.rows_per_bin = 1 + random() % 6;
    rules.group_size = 1 + random() % 50;
    Lengths lengths(random() % 120);
    // Empty rows and rows longer than a bin, too.
    for (Length& length : lengths) length = static_cast<Length>(random() % (rules.capacity + 4));
    CHECK(rows_of(pack(lengths, rules)) == plain_first_fit(lengths, rules));
    rules.method = PackingMethod::next_fit;
    CHECK(rows_of(pack(lengths, rules)) == plain_next_fit(lengths, rules.capacity));
  }
}

TEST_CASE("multipack: next-fit knows no groups and no limit of rows") {
  const Lengths lengths(10, 1);
  const PackingRules rules{PackingMethod::next_fit, 100, 2, 3};
  CHECK(rows_of(pack(lengths, rules)).size() == 1);
  check_count(lengths, rules, plain_next_fit(lengths, 100));
}

TEST_CASE("multipack: an order packs the rows that it names") {
  const Lengths lengths = {4, 4, 4, 6, 6, 6};
  const PackingRules rules{PackingMethod::first_fit, 10, 200, 100};
  CHECK(count_bins(lengths, {}, rules, 0).bins == 4);
  const std::vector<std::uint32_t> alternating = {3, 0, 4, 1, 5, 2};
  CHECK(count_bins(lengths, alternating, rules, 0).bins == 3);
}

TEST_CASE("multipack: a capacity beyond 32 bits holds all") {
  const Lengths lengths(50, 2'000'000'000);
  const PackingRules rules{PackingMethod::first_fit, Index{1} << 40, 200, 100};
  CHECK(pack(lengths, rules).count() == 1);
}

TEST_CASE("multipack: no rows fill no bin") {
  const PackingRules rules{PackingMethod::first_fit, 10, 200, 100};
  CHECK(pack({}, rules).count() == 0);
  CHECK(count_bins({}, {}, rules, 3).bins == 0);
}

TEST_CASE("permutations: every row once, by seed alone and fresh each time") {
  Permutations orders(7, 1000), same(7, 1000), other(8, 1000);
  const auto first = orders.next();
  CHECK(same.next() == first);
  CHECK(other.next() != first);
  CHECK(orders.next() != first);
  auto sorted = first;
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < 1000; ++i) REQUIRE(sorted[i] == i);
  CHECK(first != sorted);
}

TEST_CASE("permutations: each place is as likely for each row") {
  Permutations orders(1, 4);
  std::vector<int> counts(16);
  for (int round = 0; round < 16'000; ++round) {
    const auto& order = orders.next();
    for (std::size_t place = 0; place < 4; ++place) ++counts[4 * place + order[place]];
  }
  for (const int count : counts) CHECK(std::abs(count - 4000) < 300);  // 5 sigma of a binomial
}

}  // namespace
}  // namespace cpplan::data
