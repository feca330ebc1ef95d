#include "base/json.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/contract.hpp"

namespace cpplan {
namespace {

constexpr std::size_t max_depth = 512;  // printing and destruction recurse

/// Builds a Json from the parser's events.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(Json()); }
  bool boolean(bool b) override { return add(Json(b)); }
  bool number_integer(std::int64_t n) override { return add(Json(Index{n})); }
  bool number_unsigned(std::uint64_t n) override {
    constexpr std::uint64_t largest = std::numeric_limits<Index>::max();
    return add(n <= largest ? Json(static_cast<Index>(n)) : Json(static_cast<double>(n)));
  }
  bool number_float(double x, const std::string&) override { return add(Json(x)); }
  bool string(std::string& text) override { return add(Json(std::move(text))); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool key(std::string& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) override {
    error_ = readable(e.what());
    return false;
  }

  Json take() { return std::move(root_); }
  const std::string& error() const { return error_; }

 private:
  struct Open {
    Json container;
    std::string key;  // under which the next value is added, in an object
  };

  bool open(Json container) {
    if (open_.size() >= max_depth) {
      error_ = "it nests deeper than " + std::to_string(max_depth) + " levels";
      return false;
    }
    open_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    Json done = std::move(open_.back().container);
    open_.pop_back();
    return add(std::move(done));
  }

  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& parent = open_.back(); parent.container.is_array()) {
      parent.container.push_back(std::move(value));
    } else {
      parent.container.append_member(std::move(parent.key), std::move(value));
    }
    return true;
  }

  /// "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without its number.
  static std::string readable(std::string_view text) {
    const auto bracket = text.find("] ");
    return std::string(bracket == text.npos ? text : text.substr(bracket + 2));
  }

  std::vector<Open> open_;
  Json root_;
  std::string error_;
};

std::string scalar_text(const Json& value) {
  using nlohmann::json;
  if (value.is_string())
    return json(value.as_string()).dump(-1, ' ', false, json::error_handler_t::replace);
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_integer()) return std::to_string(value.as_integer());
  return value.is_number() ? json(value.as_double()).dump() : "null";
}

bool is_scalar(const Json& value) {
  return !value.is_array() && !value.is_object();
}

class Printer {
 public:
  explicit Printer(int indent) : indent_(indent) {}

  void print(const Json& value, int depth) {
    if (value.is_object())
      print_object(value.members(), depth);
    else if (value.is_array())
      print_array(value.elements(), depth);
    else
      out_ += scalar_text(value);
  }

  std::string take() { return std::move(out_); }

 private:
  void print_object(const Json::Object& members, int depth) {
    if (members.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_ += indent_ < 0 ? ", " : ",";
      break_line(depth + 1);
      out_ += scalar_text(Json(members[i].first)) + ": ";
      print(members[i].second, depth + 1);
    }
    break_line(depth);
    out_ += '}';
  }

  /// Scalars share a line: a group of ranks is read across, not down.
  void print_array(const Json::Array& elements, int depth) {
    const bool one_line = std::all_of(elements.begin(), elements.end(), is_scalar);
    out_ += '[';
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) out_ += one_line || indent_ < 0 ? ", " : ",";
      if (!one_line) break_line(depth + 1);
      print(elements[i], depth + 1);
    }
    if (!one_line) break_line(depth);
    out_ += ']';
  }

  void break_line(int depth) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_ * depth), ' ');
  }

  int indent_;
  std::string out_;
};

std::optional<std::size_t> array_index(std::string_view text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

const Json* child(const Json& parent, std::string_view name) {
  if (!parent.is_array()) return parent.find(name);
  const auto index = array_index(name);
  return index && *index < parent.elements().size() ? &parent.elements()[*index] : nullptr;
}

}  // namespace

double Json::as_double() const {
  return is_integer() ? static_cast<double>(as_integer()) : std::get<double>(value_);
}

// A name that stands twice means its last value, as everywhere in JSON.
const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Object& all = members();
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&](const Member& m) { return m.first == key; });
  return found == all.rend() ? nullptr : &found->second;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object{};
  expect(is_object(), "only an object has members");
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  return append_member(std::string(key), Json());
}

Json& Json::append_member(std::string key, Json value) {
  expect(is_object(), "only an object has members");
  return std::get<Object>(value_).emplace_back(std::move(key), std::move(value)).second;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array{};
  expect(is_array(), "only an array has elements");
  std::get<Array>(value_).push_back(std::move(element));
}

// Names of parameters contain dots themselves, so every prefix is tried as a name.
const Json* Json::at_path(std::string_view path) const {
  for (std::size_t end = path.find('.'); end != path.npos; end = path.find('.', end + 1)) {
    const Json* next = child(*this, path.substr(0, end));
    if (next == nullptr) continue;
    if (const Json* found = next->at_path(path.substr(end + 1))) return found;
  }
  return child(*this, path);
}

std::string Json::dump(int indent) const {
  Printer printer(indent);
  printer.print(*this, 0);
  return printer.take();
}

Result<Json> Json::parse(std::string_view text) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return failure("not readable as JSON (" + builder.error() + ")");
  return builder.take();
}

}  // namespace cpplan
