#pragma once
// Takes the members of a JSON document that must be there, and remembers the first that is not.
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace cpplan {

/// A missing member, or one of another kind, reads as 0, "" or empty; `error` then says which, by
/// its path: "run record has no \"layout.tp\" (the schema wants an integer there)".
class JsonReader {
 public:
  /// `what`: of the document, for messages. Both references outlive the reader.
  JsonReader(const Json& json, std::string_view what, std::optional<Error>& error)
      : JsonReader(json, what, "", error) {}

  Index integer(std::string_view key) const;
  /// Null is NaN: that is how NaN and infinities are written.
  double number(std::string_view key) const;
  std::string text(std::string_view key) const;
  bool flag(std::string_view key) const;
  JsonReader object(std::string_view key) const;
  /// Of every element of a list.
  template <class F>
  void each(std::string_view key, F&& read) const {
    Index i = 0;
    for (const Json& element : list(key)) read(JsonReader(element, what_, path(key, i++), error_));
  }
  const Json& json() const { return json_; }
  JsonReader member(const Json::Member& member) const {
    return {member.second, what_, path_ + member.first + ".", error_};
  }

 private:
  JsonReader(const Json& json, std::string_view what, std::string path, std::optional<Error>& error)
      : json_(json), what_(what), path_(std::move(path)), error_(error) {}

  const Json* find(std::string_view key, std::string_view kind, bool (Json::*is)() const) const;
  const Json::Array& list(std::string_view key) const;
  std::string path(std::string_view key, Index element) const;

  const Json& json_;
  std::string_view what_;
  std::string path_;
  std::optional<Error>& error_;
};

}  // namespace cpplan
