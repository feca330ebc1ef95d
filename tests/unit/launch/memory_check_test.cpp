#include <doctest/doctest.h>

#include "launch/memory_check.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {
constexpr Index gib = Index{1} << 30;
}

TEST_CASE("memory check: what fits is let through") {
  CHECK(check_memory({.world = 8, .of_arenas = {4 * gib}}, {8 * gib}, {}));
}

TEST_CASE("memory check: a refusal names what --shrink would need") {
  const auto refused =
      check_memory({.world = 8, .of_arenas = {64 * gib}}, {8 * gib}, Bytes{gib / 2});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "the run does not fit this machine (8 ranks need 64.3 GiB, and 8.0 GiB of memory is "
        "available). --shrink trains a tiny model under the same layout, which needs 800.0 MiB");
}

TEST_CASE("memory check: processes themselves take memory") {
  const Bytes one = Bytes{gib} + process_overhead;
  CHECK(check_memory({.world = 1, .of_arenas = {gib}}, one, {}));
  CHECK_FALSE(check_memory({.world = 2, .of_arenas = {gib}}, one, {}));
}

TEST_CASE("memory check: says how many ranks fit where --shrink does not help") {
  const auto refused = check_memory({.world = 8, .of_arenas = {64 * gib}}, {20 * gib}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("This memory holds 2 ranks of that kind") !=
        std::string::npos);
}
