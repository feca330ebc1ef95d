#include "layout/parallel_dims.hpp"

#include <doctest/doctest.h>

namespace cpplan::layout {
namespace {

TEST_CASE("weights are sharded tp * pp ways and replicated dp * cp times") {
  const auto dims = make_parallel_dims(8, 16, 16, 8, true);
  REQUIRE(dims);
  CHECK(dims->world() == 16384);
  CHECK(dims->weight_shards() == 128);
  CHECK(dims->weight_replicas() == 128);
  CHECK(dims->sequence_parallel);
}

TEST_CASE("a degree below 1 is an error that names it") {
  CHECK(make_parallel_dims(0, 1, 1, 1, false).error().message.starts_with("tp is 0 "));
  CHECK(make_parallel_dims(1, -2, 1, 1, false).error().message.starts_with("cp is -2 "));
  CHECK(make_parallel_dims(1, 1, 0, 1, false).error().message.starts_with("pp is 0 "));
  CHECK(make_parallel_dims(1, 1, 1, 0, false).error().message.starts_with("dp is 0 "));
}

TEST_CASE("a world that an int or an Index cannot count is an error") {
  CHECK(make_parallel_dims(2147483647, 1, 1, 1, false));
  CHECK_FALSE(make_parallel_dims(65536, 32768, 1, 1, false));
  CHECK_FALSE(make_parallel_dims(Index{1} << 62, 4, 1, 1, false));
}

}  // namespace
}  // namespace cpplan::layout
