#include "plan/stages.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace cpplan;
using plan::EndStages;
using plan::stage_layers;

TEST_CASE("stages: layers divide evenly or not at all") {
  CHECK(stage_layers(32, 4) == std::vector<int>{8, 8, 8, 8});
  CHECK(stage_layers(5, 1) == std::vector<int>{5});
  CHECK_FALSE(stage_layers(30, 4));
  CHECK_FALSE(stage_layers(3, 4));
  CHECK_FALSE(stage_layers(0, 1));
}

TEST_CASE("stages: uneven ends leave an even middle") {
  CHECK(stage_layers(46, 4, {10, 12}) == std::vector<int>{10, 12, 12, 12});
  CHECK_FALSE(stage_layers(46, 4, {11, 12}));
  CHECK(stage_layers(31, 4, {7, {}}) == std::vector<int>{7, 8, 8, 8});
  CHECK(stage_layers(31, 4, {{}, 7}) == std::vector<int>{8, 8, 8, 7});
  CHECK(stage_layers(7, 2, {4, 3}) == std::vector<int>{4, 3});
  CHECK_FALSE(stage_layers(8, 2, {4, 3}));
  CHECK_FALSE(stage_layers(8, 4, {0, 2}));
  CHECK_FALSE(stage_layers(8, 4, {7, 2}));
  CHECK_FALSE(stage_layers(8, 1, {4, 4}));
}

TEST_CASE("stages: 126 layers over 16 stages want 7 at both ends") {
  CHECK(plan::propose_end_stages(126, 16) == EndStages{7, 7});
  const auto layers = *stage_layers(126, 16, {7, 7});
  CHECK(layers.front() == 7);
  CHECK(layers[1] == 8);
  CHECK(layers.back() == 7);
}

TEST_CASE("stages: every proposal works and fills no stage more than it must") {
  for (Index layers = 2; layers <= 130; ++layers)
    for (Index stages = 2; stages <= layers && stages <= 20; ++stages) {
      CAPTURE(layers);
      CAPTURE(stages);
      const auto ends = plan::propose_end_stages(layers, stages);
      if (!ends) continue;
      const auto split = stage_layers(layers, stages, *ends);
      REQUIRE(split);
      CHECK(std::accumulate(split->begin(), split->end(), Index{0}) == layers);
      CHECK(split->back() <= split->front());
    }
  CHECK(plan::propose_end_stages(7, 2) == EndStages{4, 3});
  CHECK_FALSE(plan::propose_end_stages(3, 4));
}
