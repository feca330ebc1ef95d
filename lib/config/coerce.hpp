#pragma once
// From what YAML says to the type a key takes, as pydantic's lax mode does it: "4", 4.0 and 08 are
// integers, 4.5 and 1e3 are not. Stricter than pydantic in one place: a boolean is no number.
#include <optional>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "config/document.hpp"

namespace cpplan::config {

/// What is to be said about a value; its rule decides how loudly.
struct Complaint {
  std::string_view rule;
  std::string message, label, why;
};

template <class T>
struct Reading {
  std::optional<T> value;
  std::optional<Complaint> complaint;
};

// `key` names the value in messages. The node is not null.
Reading<Index> read_integer(std::string_view key, const Node& node);
Reading<double> read_real(std::string_view key, const Node& node);
Reading<bool> read_boolean(std::string_view key, const Node& node);
Reading<std::string> read_text(std::string_view key, const Node& node);

/// "a list", "a mapping", "the text \"x\"", "the boolean true", ... for messages.
std::string describe(const Node& node);

}  // namespace cpplan::config
