#include "report/plan_env.hpp"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "report/plan_json.hpp"
#include "report/plan_value.hpp"
#include "sample_plan.hpp"

namespace cpplan::report {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ('\n' + text).find('\n' + line + '\n') != std::string::npos;
}

TEST_CASE("scalars become shell variables named after their path below the section") {
  const std::string env = plan_env(plan_json(sample_plan(), {}));
  CHECK(has_line(env, "CPPLAN_SCHEMA=cpplan/plan/1"));
  CHECK(has_line(env, "CPPLAN_BATCH_SIZE=16"));
  CHECK(has_line(env, "CPPLAN_TOTAL_NUM_STEPS=9751"));
  CHECK(has_line(env, "CPPLAN_WORLD_SIZE_SOURCE=--world-size"));
  CHECK(has_line(env, "CPPLAN_ENGINE_LAYOUT_IMBALANCE=1.0"));
  CHECK(has_line(env, "CPPLAN_SEQUENCE_PARALLEL=false"));
  CHECK(env.find("TP_GROUPS") == std::string::npos);
}

TEST_CASE("values are quoted for a shell and unknown ones are empty") {
  plan::Plan plan = sample_plan();
  plan.steps.total_num_steps.reset();
  const std::string env = plan_env(plan_json(plan, {}));
  CHECK(has_line(env, R"(CPPLAN_BASE_MODEL='./it'\''s tiny')"));
  CHECK(has_line(env, "CPPLAN_STEPS_FORMULA='ceil(52002 * 3 / 16)'"));
  CHECK(has_line(env, "CPPLAN_TOTAL_NUM_STEPS="));
}

TEST_CASE("no variable is given twice and each is a shell name") {
  std::istringstream lines(plan_env(plan_json(sample_plan(), {})));
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('='));
    CHECK_MESSAGE(seen.insert(name).second, name);
    CHECK(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos);
  }
  CHECK(seen.size() > 40);
}

TEST_CASE("a value is found by its path or by its name alone") {
  const Json document = plan_json(sample_plan(), {});
  CHECK(value_text(*find_value(document, "batch.batch_size")) == "16");
  CHECK(value_text(*find_value(document, "batch_size")) == "16");
  CHECK(value_text(*find_value(document, "total_bytes")) == "7340544");
  CHECK(value_text(*find_value(document, "file")) == "train.yaml");
  CHECK(value_text(*find_value(document, "tp_groups")) == "[[0, 1], [2, 3], [4, 5], [6, 7]]");
  CHECK(value_text(*find_value(document, "layout.tp_groups.1.0")) == "2");
  CHECK(value_text(*find_value(document, "config.model")) == "");
}

TEST_CASE("a name that is not there or not unique is an error that shows names that work") {
  const Json document = plan_json(sample_plan(), {});
  CHECK(find_value(document, "batchsize").error().message.find("did you mean batch_size") !=
        std::string::npos);
  const std::string message = find_value(document, "imbalance").error().message;
  CHECK(message.find("sequence.framework_layout.imbalance or sequence.engine_layout.imbalance") !=
        std::string::npos);
}

}  // namespace
}  // namespace cpplan::report
