#include "data/packing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace cpplan::data {
namespace {

using Groups = std::vector<std::vector<Index>>;

Groups groups_of(const Bins& bins) {
  Groups groups;
  for (Index b = 0; b < bins.count(); ++b)
    groups.emplace_back(bins.items.begin() + bins.first[b], bins.items.begin() + bins.first[b + 1]);
  return groups;
}

/// The definition: every item looks at every bin.
Groups plain_first_fit(const std::vector<Index>& lengths, Index capacity) {
  Groups groups;
  std::vector<Index> room;
  for (Index item = 0; item < std::ssize(lengths); ++item) {
    const auto fits = std::ranges::find_if(room, [&](Index r) { return r >= lengths[item]; });
    const auto bin = fits - room.begin();
    if (fits == room.end()) room.push_back(capacity), groups.emplace_back();
    room[bin] -= lengths[item];
    groups[bin].push_back(item);
  }
  return groups;
}

TEST_CASE("first fit does not sort") {
  CHECK(groups_of(first_fit(std::vector<Index>{4, 4, 4, 6, 6, 6}, 10)) ==
        Groups{{0, 1}, {2, 3}, {4}, {5}});
  CHECK(groups_of(first_fit(std::vector<Index>{6, 6, 6, 4, 4, 4}, 10)) ==
        Groups{{0, 3}, {1, 4}, {2, 5}});
}

TEST_CASE("the tree fills the same bins as the plain loop") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Index capacity = 1 + random() % 60;
    std::vector<Index> lengths(random() % 90);
    for (Index& length : lengths) length = random() % (capacity + 1);
    CHECK(groups_of(first_fit(lengths, capacity)) == plain_first_fit(lengths, capacity));
  }
}

TEST_CASE("nothing fills no bin and full items stand alone") {
  CHECK(first_fit({}, 10).count() == 0);
  CHECK(groups_of(first_fit(std::vector<Index>{10, 10, 10}, 10)) == Groups{{0}, {1}, {2}});
  CHECK(groups_of(one_each(3)) == Groups{{0}, {1}, {2}});
}

TEST_CASE("two hundred thousand items are packed in n log n steps") {
  std::vector<Index> lengths(200000, 6);  // the plain loop would look at 2e10 bins
  CHECK(first_fit(lengths, 10).count() == 200000);
}

}  // namespace
}  // namespace cpplan::data
