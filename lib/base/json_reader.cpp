#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <limits>

namespace cpplan {

Index JsonReader::integer(std::string_view key) const {
  const Json* member = find(key, "an integer", &Json::is_integer);
  return member ? member->as_integer() : 0;
}

double JsonReader::number(std::string_view key) const {
  const Json* null = json_.is_object() ? json_.find(key) : nullptr;
  if (null && null->is_null()) return std::numeric_limits<double>::quiet_NaN();
  const Json* member = find(key, "a number", &Json::is_number);
  return member ? member->as_double() : 0;
}

std::string JsonReader::text(std::string_view key) const {
  const Json* member = find(key, "a string", &Json::is_string);
  return member ? member->as_string() : "";
}

bool JsonReader::flag(std::string_view key) const {
  const Json* member = find(key, "true or false", &Json::is_bool);
  return member && member->as_bool();
}

JsonReader JsonReader::object(std::string_view key) const {
  static const Json empty = Json::object();
  const Json* member = find(key, "an object", &Json::is_object);
  return {member ? *member : empty, what_, path_ + std::string(key) + ".", error_};
}

const Json::Array& JsonReader::list(std::string_view key) const {
  static const Json::Array empty;
  const Json* member = find(key, "a list", &Json::is_array);
  return member ? member->elements() : empty;
}

std::string JsonReader::path(std::string_view key, Index element) const {
  return fmt::format("{}{}.{}.", path_, key, element);
}

const Json* JsonReader::find(std::string_view key, std::string_view kind,
                             bool (Json::*is)() const) const {
  const Json* member = json_.is_object() ? json_.find(key) : nullptr;
  if (member && (member->*is)()) return member;
  if (!error_)
    error_ = Error{
        fmt::format("{} has no \"{}{}\" (the schema wants {} there)", what_, path_, key, kind)};
  return nullptr;
}

}  // namespace cpplan
