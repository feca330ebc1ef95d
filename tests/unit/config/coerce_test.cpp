#include "config/coerce.hpp"

#include <doctest/doctest.h>

namespace cpplan::config {
namespace {

Node scalar(std::string text, ScalarStyle style = ScalarStyle::plain) {
  Node node;
  node.kind = NodeKind::scalar;
  node.text = std::move(text);
  node.style = style;
  return node;
}

template <class T>
struct Expected {
  std::string_view text;
  std::optional<T> value;
  std::string_view rule = {};
};

TEST_CASE("coerce: integers as pydantic's lax mode reads them") {
  const Expected<Index> table[] = {
      {"4", 4},
      {"4.0", 4},
      {"0x200", 512},
      {"1_000", 1000, "CP109"},
      {"08", 8, "CP108"},
      {"010", 8, "CP108"},
      {"4.5", {}, "CP104"},
      {"1e3", {}, "CP104"},
      {"yes", {}, "CP104"},
      {"no", 0, "CP123"},
      {".inf", {}, "CP104"},
      {"None", {}, "CP104"},
      {"10:00", {}, "CP107"},
      {"4#x", {}, "CP104"},
      {"2024-01-01", {}, "CP104"},
      {"99999999999999999999", {}, "CP117"},
      {"4\xC2\xA0", 4},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    const auto reading = read_integer("key", scalar(std::string(row.text)));
    CHECK(reading.value == row.value);
    CHECK((reading.complaint ? reading.complaint->rule : "") == row.rule);
  }
}

TEST_CASE("coerce: quoted integers") {
  const Expected<Index> table[] = {
      {"4", 4, "CP109"},    {" 4 ", 4, "CP109"},   {"4.0", 4, "CP109"},  {"1_000", 1000, "CP109"},
      {"", {}, "CP104"},    {"1__0", {}, "CP104"}, {"4.5", {}, "CP104"}, {"+4", 4, "CP109"},
      {"+-4", {}, "CP104"}, {"0x4", {}, "CP104"},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    const auto reading = read_integer("key", scalar(std::string(row.text), ScalarStyle::quoted));
    CHECK(reading.value == row.value);
    CHECK((reading.complaint ? reading.complaint->rule : "") == row.rule);
  }
}

TEST_CASE("coerce: real numbers") {
  const Expected<double> table[] = {
      {"0.1", 0.1},
      {"1", 1.0},
      {"5e-5", 5e-5, "CP109"},
      {"1.0e-3", 1e-3},
      {"010", 8.0, "CP108"},
      {"yes", {}, "CP104"},
      {".nan", {}, "CP104"},
      {"inf", {}, "CP104"},
      {"fast", {}, "CP104"},
      {"10:00", {}, "CP107"},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    const auto reading = read_real("key", scalar(std::string(row.text)));
    CHECK(reading.value == row.value);
    CHECK((reading.complaint ? reading.complaint->rule : "") == row.rule);
  }
}

TEST_CASE("coerce: booleans") {
  const Expected<bool> table[] = {
      {"true", true},     {"off", false},
      {"1", true},        {"0", false},
      {"1.0", true},      {"y", true},
      {"t", true},        {"n", false, "CP110"},
      {"2", {}, "CP104"}, {"maybe", {}, "CP104"},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    const auto reading = read_boolean("key", scalar(std::string(row.text)));
    CHECK(reading.value == row.value);
    CHECK((reading.complaint ? reading.complaint->rule : "") == row.rule);
  }
  const auto quoted = read_boolean("key", scalar("false", ScalarStyle::quoted));
  CHECK(quoted.value == false);
  CHECK(quoted.complaint->rule == "CP110");
}

TEST_CASE("coerce: text refuses what YAML reads as something else") {
  CHECK(read_text("key", scalar("words")).value == "words");
  CHECK(read_text("key", scalar("no", ScalarStyle::quoted)).value == "no");
  for (const char* other : {"no", "12", "1.5", "2024-01-01"}) {
    CAPTURE(other);
    const auto reading = read_text("key", scalar(other));
    CHECK_FALSE(reading.value);
    CHECK(reading.complaint->message.find(std::string("quote it: \"") + other) !=
          std::string::npos);
  }
}

TEST_CASE("coerce: the message names the value that works") {
  CHECK(read_integer("sequence_len", scalar("1e4")).complaint->message.ends_with("write 10000"));
  CHECK(read_integer("max_steps", scalar("10:00")).complaint->message.ends_with("max_steps: 600"));
  CHECK(read_integer("warmup_steps", scalar("0.1")).complaint->message.find("warmup_ratio: 0.1") !=
        std::string::npos);
}

}  // namespace
}  // namespace cpplan::config
