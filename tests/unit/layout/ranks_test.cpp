#include "layout/ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

namespace cpplan::layout {
namespace {

constexpr ParallelDims dims{.tp = 2, .cp = 3, .pp = 4, .dp = 5};

std::vector<Order> all_orders() {
  Order order = megatron_order;
  std::ranges::sort(order);
  std::vector<Order> orders;
  do orders.push_back(order);
  while (std::ranges::next_permutation(order).found);
  return orders;
}

/// Ranks that share all coordinates but those of `along`, in rank order.
std::set<std::vector<int>> brute_force_groups(const Ranks& ranks, std::set<Dim> along) {
  std::map<std::vector<int>, std::vector<int>> groups;
  for (int r = 0; r < ranks.world(); ++r) {
    std::vector<int> others;
    for (const Dim d : megatron_order)
      if (!along.contains(d)) others.push_back(ranks.coordinates(r)[d]);
    groups[others].push_back(r);
  }
  std::set<std::vector<int>> members;
  for (const auto& [others, group] : groups) members.insert(group);
  return members;
}

void check_groups(const Ranks& ranks, const std::vector<Group>& groups, std::set<Dim> along) {
  std::set<std::vector<int>> found;
  int previous = -1;
  for (const Group& g : groups) {
    CHECK(g.rank(0) > previous);
    previous = g.rank(0);
    const std::vector<int> members = g.members();
    CHECK(std::ranges::is_sorted(members));
    for (int i = 0; i < g.size(); ++i) REQUIRE(g.index_of(members[i]) == i);
    found.insert(members);
  }
  CHECK(found == brute_force_groups(ranks, along));
}

TEST_CASE("coordinates and ranks are inverse and the first dimension is the fastest") {
  const auto order = parse_order("cp-dp-tp-ep-pp");
  const Ranks ranks(dims, *order);
  CHECK(ranks.stride(Dim::cp) == 1);
  CHECK(ranks.stride(Dim::dp) == 3);
  CHECK(ranks.stride(Dim::tp) == 15);
  CHECK(ranks.stride(Dim::pp) == 30);
  for (int r = 0; r < ranks.world(); ++r) CHECK(ranks.rank(ranks.coordinates(r)) == r);
}

TEST_CASE("groups equal brute force for every rank order") {
  for (const Order& order : all_orders()) {
    CAPTURE(to_string(order));
    const Ranks ranks(dims, order);
    for (const Dim a : megatron_order) {
      check_groups(ranks, ranks.groups(a), {a});
      for (const Dim b : megatron_order)
        if (a != b) check_groups(ranks, ranks.groups(a, b), {a, b});
    }
  }
}

TEST_CASE("a rank is in its own group at its own coordinate") {
  const Ranks ranks(dims);
  for (int r = 0; r < ranks.world(); ++r)
    for (const Dim d : megatron_order)
      CHECK(ranks.group(r, d).index_of(r) == ranks.coordinates(r)[d]);
}

TEST_CASE("Megatron's order puts tensor-parallel peers next to each other") {
  const Ranks ranks({.tp = 2, .cp = 2, .pp = 2, .dp = 2});
  CHECK(ranks.group(5, Dim::tp).members() == std::vector{4, 5});
  CHECK(ranks.group(5, Dim::cp).members() == std::vector{5, 7});
  CHECK(ranks.group(5, Dim::dp).members() == std::vector{1, 5});
  CHECK(ranks.group(5, Dim::pp).members() == std::vector{5, 13});
  CHECK(ranks.group(5, Dim::dp, Dim::cp).members() == std::vector{1, 3, 5, 7});
  CHECK(ranks.group(5, Dim::tp, Dim::cp).members() == std::vector{4, 5, 6, 7});
}

TEST_CASE("an order is read in any case and completed") {
  CHECK(*parse_order("tp-cp-ep-dp-pp") == megatron_order);
  CHECK(to_string(*parse_order("PP-TP")) == "pp-tp-cp-ep-dp");
  for (const Order& order : all_orders()) CHECK(*parse_order(to_string(order)) == order);
}

TEST_CASE("an order with an unknown or repeated dimension is an error that shows one that works") {
  for (const char* text : {"", "tp-", "tp--cp", "tp-xp", "tp,cp", "tp-cp-tp"}) {
    CAPTURE(text);
    const auto order = parse_order(text);
    REQUIRE_FALSE(order);
    const std::string& message = order.error().message;
    CHECK(parse_order(message.substr(message.rfind(' ') + 1)));
  }
  CHECK(parse_order("tp-xp").error().message.find("\"xp\"") != std::string::npos);
  CHECK(parse_order("tp-cp-tp").error().message.find("names tp twice") != std::string::npos);
}

}  // namespace
}  // namespace cpplan::layout
