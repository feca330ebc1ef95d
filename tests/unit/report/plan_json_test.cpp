#include "report/plan_json.hpp"

#include <doctest/doctest.h>

#include <set>

#include "sample_plan.hpp"

namespace cpplan::report {
namespace {

std::string at(const Json& document, std::string_view path) {
  const Json* value = document.at_path(path);
  REQUIRE_MESSAGE(value, path);
  return value->dump(-1);
}

TEST_CASE("sections stand in the order of the schema") {
  const Json document = plan_json(sample_plan(), {});
  std::vector<std::string> names;
  for (const auto& [name, value] : document.members()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"schema", "summary", "config", "world", "batch", "data",
                                          "steps", "packing", "sequence", "layout", "memory",
                                          "communication", "time", "diagnostics"});
  CHECK(at(document, "schema") == "\"cpplan/plan/1\"");
}

TEST_CASE("values of a section have names that are unique in the document") {
  const Json document = plan_json(sample_plan(), {});
  std::set<std::string> seen;
  for (const auto& [section, values] : document.members())
    if (values.is_object())
      for (const auto& [name, value] : values.members())
        if (!value.is_object()) CHECK_MESSAGE(seen.insert(name).second, name);
}

TEST_CASE("numbers of the plan under their names") {
  const Json document = plan_json(sample_plan(), {});
  CHECK(at(document, "world.world_size") == "8");
  CHECK(at(document, "world.world_size_source") == "\"--world-size\"");
  CHECK(at(document, "batch.batch_size") == "16");
  CHECK(at(document, "batch.effective_world_size") == "2");
  CHECK(at(document, "data.train_rows") == "52002");
  CHECK(at(document, "steps.total_num_steps") == "9751");
  CHECK(at(document, "steps.warmup_steps") == "100");
  CHECK(at(document, "steps.learning_rates.1.step") == "9751");
  CHECK(at(document, "config.tensor_parallel_size") == "2");
  CHECK(at(document, "config.micro_batch_size") == "2");
  CHECK(at(document, "layout.weight_shards") == "2");
  CHECK(at(document, "layout.weight_replicas") == "4");
  CHECK(at(document, "layout.dimensions.0.bytes_per_step") == "4096");
  CHECK(at(document, "layout.dimensions.1.bytes_per_step") == "null");
  CHECK(at(document, "memory.engine.total_bytes") == "7340544");
  CHECK(at(document, "communication.engine.traffic.0.messages") == "12");
}

TEST_CASE("what is not known is null") {
  plan::Plan plan = sample_plan();
  plan.steps.total_num_steps.reset();
  plan.engine_memory.reset();
  plan.batch.batch_size = 0;  // beyond 64 bits
  const Json document = plan_json(plan, {});
  CHECK(at(document, "steps.total_num_steps") == "null");
  CHECK(at(document, "memory.engine") == "null");
  CHECK(at(document, "batch.batch_size") == "null");
  CHECK(at(document, "config.model") == "null");
  CHECK(at(document, "layout.layers_per_stage") == "null");
}

TEST_CASE("tokens of each context-parallel rank") {
  const Json document = plan_json(sample_plan(), {});
  CHECK(at(document, "sequence.contiguous") == "[[0, 1, 2, 3], [4, 5, 6, 7]]");
  CHECK(at(document, "sequence.head_tail") == "[[0, 1, 6, 7], [2, 3, 4, 5]]");
  CHECK(at(document, "sequence.local_len_contiguous") == "4");
  CHECK(at(document, "sequence.chunk_head_tail") == "2");
  CHECK(at(document, "sequence.framework_layout.imbalance") == "1.5");
  CHECK(at(document, "sequence.engine_layout.chunks") == "[[0, 3], [1, 2]]");
}

TEST_CASE("tokens that are padding are not listed and long sequences list none") {
  plan::Plan plan = sample_plan();
  plan.batch.sequence_len = 7;
  CHECK(at(plan_json(plan, {}), "sequence.head_tail") == "[[0, 1, 6], [2, 3, 4, 5]]");
  plan.batch.sequence_len = plan.engine_layout.padded_sequence_len = 2048;
  CHECK(plan_json(plan, {}).at_path("sequence.head_tail") == nullptr);
}

TEST_CASE("findings and their summary") {
  diag::Diagnostic finding;
  finding.id = "CP301";
  finding.severity = diag::Severity::error;
  finding.span = {"train.yaml", 3, 1, 3, 5};
  const Json document = plan_json(sample_plan(), {finding});
  CHECK(at(document, "summary") == R"({"errors": 1, "warnings": 0, "notes": 0})");
  CHECK(at(document, "diagnostics.0.id") == "\"CP301\"");
  CHECK(at(document, "diagnostics.0.span.line") == "3");
}

TEST_CASE("groups as lists of ranks") {
  const Json document = plan_json(sample_plan(), {});
  CHECK(at(document, "layout.tp_groups") == "[[0, 1], [2, 3], [4, 5], [6, 7]]");
  CHECK(at(document, "layout.cp_groups") == "[[0, 2], [1, 3], [4, 6], [5, 7]]");
  CHECK(at(document, "layout.dp_groups") == "[[0, 4], [1, 5], [2, 6], [3, 7]]");
  CHECK(at(document, "layout.pp_groups") == "[[0], [1], [2], [3], [4], [5], [6], [7]]");
  CHECK(at(document, "layout.dp_cp_groups") == "[[0, 2, 4, 6], [1, 3, 5, 7]]");
  CHECK(at(document, "layout.tp_cp_groups") == "[[0, 1, 2, 3], [4, 5, 6, 7]]");
}

TEST_CASE("sharding and replication divide the data-parallel groups") {
  plan::Plan plan = sample_plan({.tp = 2, .cp = 1, .pp = 1, .dp = 8});
  plan.layout.dp_shard = 4;
  plan.layout.dp_replicate = 2;
  const Json document = plan_json(plan, {});
  CHECK(at(document, "layout.dp_shard_groups") ==
        "[[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]");
  CHECK(at(document, "layout.dp_replicate_groups") ==
        "[[0, 8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], [7, 15]]");
}

TEST_CASE("groups of large worlds as arithmetic") {
  const Json large = plan_json(sample_plan({.tp = 8, .cp = 16, .pp = 16, .dp = 8}), {});
  CHECK(at(large, "layout.tp_groups") == R"({"size": 8, "stride": 1, "count": 2048})");
  CHECK(at(large, "layout.pp_groups") == R"({"size": 16, "stride": 1024, "count": 1024})");
  CHECK(at(large, "layout.dp_cp_groups") == R"({"size": 128, "stride": 8, "count": 128})");
  const Json one_group = plan_json(sample_plan({.tp = 2, .cp = 1, .pp = 1, .dp = 2048}), {});
  CHECK(at(one_group, "layout.dp_groups") == R"({"size": 2048, "stride": 2, "count": 2})");
  CHECK(one_group.at_path("layout.tp_groups.2047.1"));
}

TEST_CASE("a group along two dimensions that are apart has two strides") {
  plan::Plan plan = sample_plan({.tp = 8, .cp = 16, .pp = 16, .dp = 8});
  plan.layout.order = *layout::parse_order("tp-pp-cp-ep-dp");
  CHECK(at(plan_json(plan, {}), "layout.tp_cp_groups") ==
        R"({"size": 128, "axes": [{"size": 8, "stride": 1}, {"size": 16, "stride": 128}], )"
        R"("count": 128})");
}

}  // namespace
}  // namespace cpplan::report
