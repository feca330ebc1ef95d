#pragma once
// A JSON value that keeps the order of its members. The parser and printer behind it are
// nlohmann's; json.cpp is the only file that knows.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool b) : value_(b) {}
  Json(int n) : value_(static_cast<Index>(n)) {}
  Json(Index n) : value_(n) {}
  Json(double x) : value_(x) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(Bytes bytes) : value_(bytes.count) {}
  Json(Array elements) : value_(std::move(elements)) {}
  Json(Object members) : value_(std::move(members)) {}
  template <class T>
  Json(const std::vector<T>& elements) : value_(Array(elements.begin(), elements.end())) {}

  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_integer() const { return std::holds_alternative<Index>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }

  // Contract: the value is of that kind.
  bool as_bool() const { return std::get<bool>(value_); }
  Index as_integer() const { return std::get<Index>(value_); }
  double as_double() const;  // of any number
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const Array& elements() const { return std::get<Array>(value_); }
  const Object& members() const { return std::get<Object>(value_); }

  /// Member of an object, made (null) where absent. A null becomes an object.
  Json& operator[](std::string_view key);
  /// Member of an object, or nullptr.
  const Json* find(std::string_view key) const;
  /// "batch.total_num_steps", "layout.tp_groups.0.1"; nullptr where nothing is there.
  const Json* at_path(std::string_view path) const;
  void push_back(Json element);
  /// Adds a member without looking for one of that name.
  Json& append_member(std::string key, Json value);

  /// Pretty, two spaces an indent, unless `indent` is negative (one line); an array of scalars
  /// stands on one line either way. Numbers print so that they read back as the same double; NaN
  /// and infinities print as null.
  std::string dump(int indent = 2) const;
  static Result<Json> parse(std::string_view text);

 private:
  std::variant<std::monostate, bool, Index, double, std::string, Array, Object> value_;
};

}  // namespace cpplan
