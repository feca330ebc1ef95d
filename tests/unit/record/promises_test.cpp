#include "record/promises.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using namespace cpplan::record;

namespace {

/// Two ranks that sent and held what was planned.
RunRecord kept() {
  RunRecord record;
  record.communication = {{0, "tp", "all_gather", {4096}, {4096}, 2, 2, 2}};
  record.memory.ranks = {{0, {1'000'000}, {1'000'000}, {}}, {1, {1'000'000}, {1'029'000}, {}}};
  return record;
}

}  // namespace

TEST_CASE("promises: kept where bytes are equal and memory is within 3 %") {
  CHECK(broken_promises(kept()).empty());
}

TEST_CASE("promises: one byte too many is told by rank and group and collective") {
  RunRecord record = kept();
  record.communication[0].measured = {4097};
  CHECK(broken_promises(record) ==
        std::vector<std::string>{
            "rank 0 and 1 like it sent 4,097 bytes by all_gather over tp, planned 4,096"});
  record.communication[0].ranks = 1;
  CHECK(broken_promises(record).front().starts_with("rank 0 sent"));
}

TEST_CASE("promises: the same bytes in other messages are told") {
  RunRecord record = kept();
  record.communication[0].messages = 3;
  CHECK(broken_promises(record) ==
        std::vector<std::string>{
            "rank 0 and 1 like it sent its bytes by all_gather over tp in 3 messages, planned 2"});
}

TEST_CASE("promises: memory is held from above and from below") {
  for (const Index bytes : {1'031'000, 969'000}) {
    RunRecord record = kept();
    record.memory.ranks[1].measured_peak = {bytes};
    const auto broken = broken_promises(record);
    REQUIRE(broken.size() == 1);
    CHECK(broken[0].starts_with("rank 1 held"));
    CHECK(broken[0].find(bytes > 1'000'000 ? "(+3.1 %)" : "(-3.1 %)") != std::string::npos);
  }
}

TEST_CASE("promises: a message names five and counts the rest") {
  const auto message = check_message(std::vector<std::string>(7, "x"));
  CHECK(message.find("(x; x; x; x; x; and 2 more). ") != std::string::npos);
}

TEST_CASE("promises: a step's time is the median without the first") {
  std::vector<StepRecord> steps(4);
  const double seconds[] = {9, 1, 3, 2};
  for (std::size_t i = 0; i < 4; ++i) steps[i].seconds = seconds[i];
  CHECK(median_step_seconds(steps) == 2);
  CHECK(median_step_seconds({steps[0]}) == 9);
  CHECK(median_step_seconds({}) == 0);
}
