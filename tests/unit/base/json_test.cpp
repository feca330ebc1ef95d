#include "base/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace cpplan {
namespace {

TEST_CASE("json: members keep their order and print two spaces an indent") {
  const Json value = Json::Object{{"b", 1}, {"a", Json::Object{{"x", true}}}, {"c", nullptr}};
  CHECK(value.dump() == "{\n  \"b\": 1,\n  \"a\": {\n    \"x\": true\n  },\n  \"c\": null\n}");
  CHECK(value.dump(-1) == "{\"b\": 1, \"a\": {\"x\": true}, \"c\": null}");
}

TEST_CASE("json: scalars of an array share a line") {
  const Json ranks = std::vector<Index>{0, 1, 2};
  CHECK(ranks.dump() == "[0, 1, 2]");
  CHECK(Json(Json::Array{ranks, ranks}).dump() == "[\n  [0, 1, 2],\n  [0, 1, 2]\n]");
}

TEST_CASE("json: a double reads back as itself and NaN prints as null") {
  for (const double x : {0.1, 1.0, 1e300, 5e-324, -2.5e-5, 1.0 / 3.0}) {
    const Result<Json> again = Json::parse(Json(x).dump());
    REQUIRE(again);
    CHECK_FALSE(again->is_integer());
    CHECK(again->as_double() == x);
  }
  CHECK(Json(std::nan("")).dump() == "null");
  CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
}

TEST_CASE("json: integers keep 64 bits") {
  const Index largest = std::numeric_limits<Index>::max();
  CHECK(Json::parse("9223372036854775807")->as_integer() == largest);
  CHECK(Json::parse("-9223372036854775808")->as_integer() == std::numeric_limits<Index>::min());
  CHECK_FALSE(Json::parse("9223372036854775808")->is_integer());
}

TEST_CASE("json: text is escaped and broken UTF-8 is replaced") {
  CHECK(Json("a\"b\n\x1b").dump() == R"("a\"b\n\u001b")");
  CHECK(Json("\xff").dump() == "\"\xEF\xBF\xBD\"");
}

TEST_CASE("json: paths reach through objects and arrays and names with dots") {
  const Json value = *Json::parse(
      R"({"layout": {"tp_groups": [[0, 1], [2, 3]]}, "parameters": {"norm.weight": {"grad": 2}}})");
  CHECK(value.at_path("layout.tp_groups.1.0")->as_integer() == 2);
  CHECK(value.at_path("parameters.norm.weight.grad")->as_integer() == 2);
  CHECK(value.at_path("layout.tp_groups.2") == nullptr);
  CHECK(value.at_path("layout.nothing") == nullptr);
  CHECK(value.at_path("") == nullptr);
}

TEST_CASE("json: a new member is null and a null becomes an object") {
  Json value;
  value["a"]["b"] = 3;
  CHECK(value.dump(-1) == R"({"a": {"b": 3}})");
  value["a"]["b"] = "x";
  CHECK(value.dump(-1) == R"({"a": {"b": "x"}})");
}

TEST_CASE("json: the last of two members of one name counts") {
  CHECK(Json::parse(R"({"a": 1, "a": 2})")->find("a")->as_integer() == 2);
}

TEST_CASE("json: what is no JSON says where") {
  const Result<Json> broken = Json::parse("{\n  \"a\": }");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message.find("line 2, column 8") != std::string::npos);
  CHECK_FALSE(Json::parse(""));
  CHECK_FALSE(Json::parse("1 2"));
}

TEST_CASE("json: nesting is bounded") {
  const Result<Json> deep = Json::parse(std::string(100'000, '['));
  REQUIRE_FALSE(deep);
  CHECK(deep.error().message.find("512 levels") != std::string::npos);
}

}  // namespace
}  // namespace cpplan
