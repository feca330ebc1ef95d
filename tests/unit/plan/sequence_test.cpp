#include "plan/sequence.hpp"

#include <doctest/doctest.h>

#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

plan::Batch of_length(Index tokens) {
  plan::Batch batch;
  batch.sequence_len = tokens;
  return batch;
}

layout::ParallelDims degrees(int tp, int cp) {
  return {.tp = tp, .cp = cp, .pp = 1, .dp = 1, .sequence_parallel = tp > 1};
}

}  // namespace

TEST_CASE("sequence: axolotl cuts contiguously and the last rank works most") {
  const auto layout = plan::framework_layout({}, of_length(4096), degrees(1, 4));
  CHECK(layout.kind == "contiguous");
  CHECK(layout.chunks == std::vector<std::vector<Index>>{{0}, {1}, {2}, {3}});
  CHECK(layout.chunk_tokens == 1024);
  CHECK(layout.imbalance == doctest::Approx(2 - 1.0 / 4).epsilon(1e-3));
}

TEST_CASE("sequence: the engine gives each rank a head and a tail") {
  const auto layout = plan::engine_layout({}, of_length(4096), degrees(1, 4));
  CHECK(layout.kind == "head_tail");
  CHECK(layout.chunks == std::vector<std::vector<Index>>{{0, 7}, {1, 6}, {2, 5}, {3, 4}});
  CHECK(layout.chunk_tokens == 512);
  CHECK(layout.imbalance == doctest::Approx(1.0));
}

TEST_CASE("sequence: a length that does not divide is padded") {
  const auto framework = plan::framework_layout({}, of_length(2999), degrees(1, 4));
  CHECK(framework.padded_sequence_len == 3000);
  CHECK(framework.chunk_tokens == 750);
  const auto engine = plan::engine_layout({}, of_length(32769), degrees(1, 8));
  CHECK(engine.padded_sequence_len == 32784);
  CHECK(engine.chunk_tokens == 2049);
  CHECK(engine.pad_tokens == 15);
}

TEST_CASE("sequence: packing pads to 64 before it cuts") {
  config::TrainingConfig c;
  give(c.batch.sample_packing, true);
  const auto layout = plan::framework_layout(c, of_length(500'000), degrees(1, 8));
  CHECK(layout.padded_sequence_len == 500'032);
  CHECK(layout.chunk_tokens == 62'504);
  give(c.batch.pad_to_sequence_len, false);
  CHECK(plan::framework_layout(c, of_length(500'000), degrees(1, 8)).pad_tokens == 0);
}

TEST_CASE("sequence: sequence parallelism needs shards that come out whole") {
  CHECK(plan::engine_layout({}, of_length(24), degrees(3, 2)).padded_sequence_len == 24);
  CHECK(plan::engine_layout({}, of_length(20), degrees(3, 2)).padded_sequence_len == 24);
}

TEST_CASE("sequence: one rank holds everything") {
  const auto layout = plan::framework_layout({}, of_length(2999), degrees(1, 1));
  CHECK(layout.padded_sequence_len == 2999);
  CHECK(layout.imbalance == 1);
}
