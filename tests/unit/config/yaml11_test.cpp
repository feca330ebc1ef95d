#include "config/yaml11.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace cpplan::config {
namespace {

struct Expected {
  std::string_view text;
  ScalarType type;
  double value = 0;
};

// Every row as PyYAML 6.0.3 resolves it.
TEST_CASE("yaml 1.1: plain scalars resolve as PyYAML resolves them") {
  using enum ScalarType;
  constexpr Expected table[] = {
      {"", null},
      {"~", null},
      {"Null", null},
      {"nULL", text},
      {"yes", boolean, 1},
      {"Off", boolean, 0},
      {"y", text},
      {"oN", text},
      {"4", integer, 4},
      {"-4", integer, -4},
      {"+4", integer, 4},
      {"0", integer, 0},
      {"010", integer, 8},
      {"08", text},
      {"0o10", text},
      {"0x1F", integer, 31},
      {"0b11", integer, 3},
      {"1_000", integer, 1000},
      {"_1", text},
      {"10:00", integer, 600},
      {"1:90", text},
      {"190:20:30", integer, 685230},
      {"4.0", real, 4},
      {"4.", real, 4},
      {".5", real, 0.5},
      {"1e3", text},
      {"1.0e3", text},
      {"1.0e+3", real, 1000},
      {"5e-5", text},
      {"5.0e-5", real, 5e-5},
      {"-.5", text},
      {"1.5.2", text},
      {"2024-01-01", date},
      {"2024-1-1", text},
      {"2024-01-01 10:00:00", date},
      {"2024-1-1T1:00:00Z", date},
      {"2024-01-01x", text},
      {"None", text},
      {"=", text},
  };
  for (const Expected& row : table) {
    CAPTURE(row.text);
    const Scalar scalar = resolve_plain(row.text);
    CHECK(scalar.type == row.type);
    if (row.type == boolean) CHECK(scalar.boolean == (row.value == 1));
    if (row.type == integer) CHECK(scalar.integer == static_cast<Index>(row.value));
    if (row.type == integer || row.type == real) CHECK(scalar.real == doctest::Approx(row.value));
  }
  CHECK(std::isinf(resolve_plain(".inf").real));
  CHECK(resolve_plain("-.Inf").real < 0);
  CHECK(std::isnan(resolve_plain(".nan").real));
}

TEST_CASE("yaml 1.1: an integer beyond 64 bits is known as such") {
  CHECK(resolve_plain("9223372036854775807").fits);
  CHECK_FALSE(resolve_plain("9223372036854775808").fits);
  CHECK_FALSE(resolve_plain("0xFFFFFFFFFFFFFFFFFF").fits);
}

TEST_CASE("yaml 1.1: quotes and the tag of text make text") {
  Node node;
  node.kind = NodeKind::scalar;
  node.text = "4";
  CHECK(resolve(node).type == ScalarType::integer);
  node.style = ScalarStyle::quoted;
  CHECK(resolve(node).type == ScalarType::text);
  node.style = ScalarStyle::plain;
  node.tag = "tag:yaml.org,2002:str";
  CHECK(resolve(node).type == ScalarType::text);
}

}  // namespace
}  // namespace cpplan::config
