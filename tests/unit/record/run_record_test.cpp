#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "record/run_record.hpp"

using namespace cpplan;
using namespace cpplan::record;

namespace {

RunRecord sample_record() {
  RunRecord record;
  record.dims = {.tp = 2, .cp = 3, .pp = 2, .dp = 1, .sequence_parallel = true};
  record.backend = "cpu", record.transport = "mpi";
  record.steps = {{1, 5.545177444479562, 1.0 / 3, 1e-4, 1234.5, 0.25},
                  {2, 4.75, 2, 2e-4, 1e6, 0.1}};
  record.parameters = {{"model.embed_tokens.weight", 0.1}, {"model.norm.weight", 1e-30}};
  record.communication = {{0, "tp", "all_gather", {4096}, {4096}, 2, 6},
                          {6, "pp", "exchange", {128}, {130}, 1, 6}};
  record.memory = {{1 << 20},
                   {(1 << 20) + 7},
                   {{0, {1 << 20}, {(1 << 20) + 7}, Bytes{1 << 21}}, {1, {1}, {2}, {}}}};
  record.time = {0.125, 0.1};
  record.waits = {{{0, 1.5, 0.25}, {1, 1.25, 0.5}}, {{"tp", {0, 1}, {0.25, 0.5}}}};
  record.broken_promises = {"rank 6 sent 130 bytes by exchange over pp, planned 128"};
  record.exit = 4;
  return record;
}

}  // namespace

TEST_CASE("run record: reads back as it was, to the last bit of every number") {
  const RunRecord record = sample_record();
  const auto text = to_json(record).dump();
  const auto back = Json::parse(text).and_then(run_record_from);
  REQUIRE_MESSAGE(back, back.error().message);
  CHECK(*back == record);
}

TEST_CASE("run record: members stand where readers look for them") {
  const Json json = to_json(sample_record());
  CHECK(json.at_path("schema")->as_string() == "cpplan/run/1");
  CHECK(json.at_path("layout.world_size")->as_integer() == 12);
  CHECK(json.at_path("layout.order")->as_string() == "tp-cp-ep-dp-pp");
  CHECK(json.at_path("steps.1.grad_norm")->as_double() == 2);
  CHECK(json.find("parameters")->find("model.norm.weight")->find("grad_norm")->as_double() ==
        1e-30);
  CHECK(json.at_path("communication.1.measured_bytes")->as_integer() == 130);
  CHECK(json.at_path("communication.1.ranks")->as_integer() == 6);
  CHECK(json.at_path("memory.planned_peak_bytes")->as_integer() == 1 << 20);
  CHECK(json.at_path("memory.ranks.0.resident_peak_bytes")->as_integer() == 1 << 21);
  CHECK(json.at_path("memory.ranks.1.resident_peak_bytes")->is_null());
  CHECK(json.at_path("time.predicted_step_seconds")->as_double() == 0.125);
  CHECK(json.at_path("waits.groups.0.straggler")->as_integer() == 0);
  CHECK(json.at_path("waits.groups.0.held_up_seconds")->as_double() == 0.25);
  CHECK_FALSE(json.at_path("check.holds")->as_bool());
}

TEST_CASE("run record: a loss that is not finite survives as not a number") {
  RunRecord record = sample_record();
  record.steps[0].loss = INFINITY;
  const auto back = Json::parse(to_json(record).dump()).and_then(run_record_from);
  REQUIRE(back);
  CHECK(std::isnan(back->steps[0].loss));
}

TEST_CASE("run record: what is missing is named by its path") {
  Json json = to_json(sample_record());
  json["memory"] = Json::Object{{"planned_peak_bytes", 3}};
  const auto missing = run_record_from(json);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message ==
        "run record has no \"memory.measured_peak_bytes\" (the schema wants an integer there)");
  json["schema"] = "cpplan/plan/1";
  CHECK(run_record_from(json).error().message ==
        "not a run record (its schema is not \"cpplan/run/1\")");
}

TEST_CASE("run record: the file is there complete or not at all") {
  const auto folder = std::filesystem::temp_directory_path() / "cpplan-record-test";
  std::filesystem::create_directories(folder);
  REQUIRE(write_run_record(folder / "run.json", sample_record()));
  CHECK(*read_run_record(folder / "run.json") == sample_record());
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  CHECK_FALSE(write_run_record(folder / "absent" / "run.json", sample_record()));
  std::filesystem::remove_all(folder);
}
