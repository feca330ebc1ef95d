#include "base/checked_count.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace cpplan;

namespace {
constexpr Index most = std::numeric_limits<Index>::max();
}

TEST_CASE("checked count: sums products and differences are those of integers") {
  const CheckedCount a = 7, b = 5;
  CHECK((a * b + a - b).value() == 37);
  CHECK(divided_up(a, 2).value() == 4);
  CHECK(divided_up(8, 2).value() == 4);
  CHECK(larger(a, b).value() == 7);
}

TEST_CASE("checked count: what does not fit is nothing and stays nothing") {
  const CheckedCount over = CheckedCount(most) + 1;
  CHECK_FALSE(over.value());
  CHECK_FALSE((CheckedCount(most) * 2).value());
  CHECK_FALSE((CheckedCount(-2) - most).value());
  CHECK_FALSE((over - most).value());
  CHECK_FALSE((over * 0).value());
  CHECK_FALSE(divided_up(over, 2).value());
  CHECK_FALSE(larger(over, 1).value());
  CHECK_FALSE(larger(1, over).value());
}
