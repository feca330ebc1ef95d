#include <doctest/doctest.h>

#include "launch/outcome_json.hpp"

using namespace cpplan::launch;

TEST_CASE("outcome: all went well") {
  const auto json = outcome_json({Outcome::End::finished, {}}, "", 0);
  CHECK(json.at_path("schema")->as_string() == "cpplan/outcome/1");
  CHECK(json.at_path("end")->as_string() == "finished");
  CHECK(json.at_path("exit")->as_integer() == 0);
  CHECK(json.at_path("failure")->is_null());
}

TEST_CASE("outcome: a rank that was killed is named with its place and its signal") {
  RankFailure failure{.cause = Cause::died, .rank = 2, .status = {}, .exit = Exit{0, 9}};
  failure.status.pid = 102, failure.status.host = "node0", failure.status.step = 7;
  failure.status.operation = "gemm";
  const auto json = outcome_json({Outcome::End::failed, failure}, "rank 2 was killed", 4);
  CHECK(json.at_path("end")->as_string() == "failed");
  CHECK(json.at_path("message")->as_string() == "rank 2 was killed");
  CHECK(json.at_path("failure.cause")->as_string() == "died");
  CHECK(json.at_path("failure.rank")->as_integer() == 2);
  CHECK(json.at_path("failure.host")->as_string() == "node0");
  CHECK(json.at_path("failure.signal")->as_integer() == 9);
  CHECK(json.at_path("failure.exit_code")->is_null());
  CHECK(json.at_path("failure.group")->is_null());
}

TEST_CASE("outcome: what is not known is null") {
  const RankFailure failure{.cause = Cause::stuck, .rank = 1};
  const auto json = outcome_json({Outcome::End::failed, failure}, "", 4);
  for (const char* unknown : {"host", "pid", "step", "group", "operation", "signal", "exit_code"})
    CHECK(json.find("failure")->find(unknown)->is_null());
}
