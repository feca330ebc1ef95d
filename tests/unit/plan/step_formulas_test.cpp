#include "plan/step_formulas.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using plan::LastBatch;

TEST_CASE("step formulas: one ceiling over all epochs in doubles") {
  CHECK(plan::plain_value(1000, 1.0, 16) == 63);
  CHECK(plan::plain_value(52002, 3.0, 64) == 2438);
  CHECK(plan::plain_value(9, 3.0, 4) == 7);
  CHECK(plan::plain_value(50, 1.1, 1) == 56);  // 50 * 1.1 = 55.00000000000001
  CHECK(plan::plain_value(0, 1.0, 1) == 0);
}

TEST_CASE("step formulas: floor division is Python's") {
  CHECK(plan::floor_divide(7, 2) == 3);
  CHECK(plan::floor_divide(-7, 2) == -4);
  CHECK(plan::floor_divide(7, -2) == -4);
  CHECK(plan::floor_divide(-8, 2) == -4);
  CHECK(plan::floor_divide(1.0, 0.1) == 9);  // 0.1 is more than a tenth
  CHECK(plan::floor_divide(23.999999999999996, 8) == 2);
}

TEST_CASE("step formulas: the estimate keeps the framework's order of evaluation") {
  CHECK(plan::estimated_value({10'000'000, 0.95, 4096}, 3, 16) == 474);
  CHECK(plan::estimated_value({20'000, 0.95, 4096}, 3, 16) == -3);
  CHECK(plan::estimated_value({10'000'000, 0.95, 4096}, 1.5, 16) == 237);
  // 0.99 * 49152 / 0.99 / 2048 = 23.999999999999996, // 8 = 2: exact arithmetic would give 2.
  CHECK(plan::estimated_value({49152, 0.99, 2048}, 1, 8) == 1);
}

TEST_CASE("step formulas: a loader has a step at least and drops one an epoch") {
  CHECK(plan::data_loader_len(3, 1, 8) == 1);
  CHECK(plan::data_loader_len(2, 2, 2) == 2);
  CHECK(plan::data_loader_len(100, 4, 32) == 12);
  CHECK(plan::measured_value(100, 2.5, LastBatch::drop) == 247);
  CHECK(plan::measured_value(100, 2.5, LastBatch::keep) == 250);
  CHECK(plan::measured_value(1, 1, LastBatch::drop) == 0);
}

TEST_CASE("step formulas: old versions multiply by the sizes of CP and TP") {
  CHECK(plan::plain_value(1000, 1.0, 32, {2, 1}) == 63);
  CHECK(plan::estimated_value({10'000'000, 0.95, 4096}, 1, 32, {1, 2}) == 156);
  CHECK(plan::measured_value(7, 1.5, LastBatch::keep, {2, 2}) == 42);
}

TEST_CASE("step formulas: the trainer takes a rest of the accumulation as a step") {
  CHECK(plan::steps_of_epoch(3, 4, 2, LastBatch::keep) == 1);
  CHECK(plan::steps_of_epoch(33, 4, 2, LastBatch::keep) == 5);  // 9 a rank
  CHECK(plan::steps_of_epoch(33, 4, 2, LastBatch::drop) == 4);  // 8 a rank
  CHECK(plan::steps_of_epoch(0, 4, 2, LastBatch::drop) == 1);
}
