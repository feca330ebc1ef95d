#include "plan/learning_rate.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using doctest::Approx;
using plan::LearningRate;
using plan::Schedule;

TEST_CASE("learning rate: the scheduler counts steps that are done") {
  const LearningRate rate{1.0, Schedule::linear, 10, 110, 0};
  CHECK(rate.at(1) == 0);
  CHECK(rate.at(6) == Approx(0.5));
  CHECK(rate.at(11) == 1);
  CHECK(rate.at(61) == Approx(0.5));
  CHECK(rate.at(110) == Approx(0.01));
  CHECK(rate.at(500) == 0);
}

TEST_CASE("learning rate: cosine falls to its floor") {
  const LearningRate rate{2.0, Schedule::cosine, 0, 100, 0};
  CHECK(rate.at(1) == 2);
  CHECK(rate.at(51) == Approx(1.0));
  CHECK(rate.at(101) == Approx(0.0));
  const LearningRate floored{2.0, Schedule::cosine, 0, 100, 0.1};
  CHECK(floored.at(1) == 2);
  CHECK(floored.at(51) == Approx(2.0 * (0.9 * 0.5 + 0.1)));
  CHECK(floored.at(101) == Approx(0.2));
}

TEST_CASE("learning rate: constant knows no warm-up unless its name says so") {
  CHECK(LearningRate{3.0, Schedule::constant, 10, 100, 0}.at(1) == 3);
  const LearningRate warm{3.0, Schedule::constant_with_warmup, 10, 100, 0};
  CHECK(warm.at(1) == 0);
  CHECK(warm.at(100) == 3);
}

TEST_CASE("learning rate: a warm-up longer than the run never divides by zero") {
  const LearningRate rate{1.0, Schedule::cosine, 200, 100, 0};
  CHECK(rate.at(100) == Approx(99.0 / 200));
  CHECK(rate.at(201) == 1);
}

TEST_CASE("warm-up: given steps, else a ratio, else three per cent up to 100") {
  CHECK(plan::count_warmup_steps(7, 0.5, 1000) == 7);
  CHECK(plan::count_warmup_steps({}, 0.1, 1000) == 100);
  CHECK(plan::count_warmup_steps({}, {}, 938) == 28);
  CHECK(plan::count_warmup_steps({}, {}, 100'000) == 100);
  CHECK(plan::count_warmup_steps({}, {}, 10) == 0);
}

TEST_CASE("warm-up: one step becomes two") {
  CHECK(plan::count_warmup_steps({}, 0.001, 1500) == 2);
  CHECK(plan::count_warmup_steps(1, {}, 1500) == 2);
  CHECK(plan::count_warmup_steps(0, {}, 1500) == 0);
}
