#include "config/yaml11.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/checked.hpp"

namespace cpplan::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A view that is eaten from the front, as the regular expressions of PyYAML's resolver do.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (done() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view set) {
    if (done() || set.find(rest_[0]) == set.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// As many of the set as there are.
  std::string_view take_all(std::string_view set) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_not_of(set));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool take_digits(std::size_t least, std::size_t most) {
    std::size_t n = 0;
    while (n < most && n < rest_.size() && is_digit(rest_[n])) ++n;
    if (n < least) return false;
    rest_.remove_prefix(n);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

constexpr std::string_view decimal = "0123456789", decimal_or_line = "0123456789_";

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  return (c | 0x20) - 'a' + 10;
}

Scalar integer_of(std::string_view digits, int base, bool negative, Notation notation) {
  Scalar out{ScalarType::integer, notation};
  std::optional<Index> value = 0;
  for (const char c : digits) {
    if (c == '_') continue;
    const int digit = digit_value(c);
    out.real = out.real * base + digit;
    if (value) value = checked_multiply(*value, base);
    if (value) value = checked_add(*value, digit);
  }
  out.fits = value.has_value();
  out.integer = value.value_or(0) * (negative ? -1 : 1);
  if (negative) out.real = -out.real;
  return out;
}

/// [0-5]?[0-9] after each colon.
std::optional<Scalar> sexagesimal_of(std::string_view text, bool negative) {
  Cursor at(text);
  double value = 0;
  bool colon = false;
  std::string_view part = at.take_all(decimal_or_line);
  if (part.empty() || part[0] == '_' || part[0] == '0') return std::nullopt;
  value = integer_of(part, 10, false, Notation::plain).real;
  while (at.take(':')) {
    colon = true;
    part = at.take_all(decimal);
    if (part.empty() || part.size() > 2 || (part.size() == 2 && part[0] > '5')) return std::nullopt;
    value = value * 60 + integer_of(part, 10, false, Notation::plain).real;
  }
  if (!colon || !at.done()) return std::nullopt;
  Scalar out{ScalarType::integer, Notation::sexagesimal};
  out.real = negative ? -value : value;
  out.fits = value < 9e18;
  out.integer = out.fits ? static_cast<Index>(out.real) : 0;
  return out;
}

std::optional<Scalar> resolve_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  const auto all_of = [](std::string_view digits, std::string_view set) {
    return !digits.empty() && digits.find_first_not_of(set) == digits.npos;
  };
  if (text.starts_with("0b") && all_of(text.substr(2), "01_"))
    return integer_of(text.substr(2), 2, negative, Notation::binary);
  if (text.starts_with("0x") && all_of(text.substr(2), "0123456789abcdefABCDEF_"))
    return integer_of(text.substr(2), 16, negative, Notation::hexadecimal);
  if (text == "0") return integer_of(text, 10, false, Notation::plain);
  if (text[0] == '0' && all_of(text, "01234567_"))
    return integer_of(text, 8, negative, Notation::octal);
  if (text[0] != '0' && all_of(text, decimal_or_line))
    return integer_of(text, 10, negative, Notation::plain);
  return sexagesimal_of(text, negative);
}

double parse_double(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  double value = 0;
  const char* first = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const auto result = std::from_chars(first, digits.data() + digits.size(), value);
  if (result.ec == std::errc::result_out_of_range)
    return digits.find("e-") == digits.npos ? std::numeric_limits<double>::infinity() : 0.0;
  return value;
}

/// The exponent of a YAML 1.1 float carries a sign: 1.0e3 is text.
bool take_exponent(Cursor& at) {
  if (!at.take_any("eE")) return true;
  return at.take_any("+-") && !at.take_all(decimal).empty();
}

std::optional<Scalar> resolve_real(std::string_view text) {
  Scalar out{ScalarType::real};
  Cursor at(text);
  const bool is_signed = at.take_any("+-");
  for (const std::string_view inf : {".inf", ".Inf", ".INF"})
    if (at.rest() == inf) {
      out.real = std::numeric_limits<double>::infinity() * (text[0] == '-' ? -1 : 1);
      return out;
    }
  for (const std::string_view nan : {".nan", ".NaN", ".NAN"})
    if (text == nan) {
      out.real = std::numeric_limits<double>::quiet_NaN();
      return out;
    }
  const std::string_view whole = at.take_all(decimal_or_line);
  if (whole.starts_with('_') || (whole.empty() && is_signed)) return std::nullopt;
  if (!at.take('.')) return std::nullopt;
  const std::string_view fraction = at.take_all(decimal_or_line);
  if (whole.empty() && (fraction.empty() || fraction[0] == '_')) return std::nullopt;
  if (!take_exponent(at) || !at.done()) return std::nullopt;
  out.real = parse_double(text);
  return out;
}

bool is_date(std::string_view text) {
  Cursor at(text);
  if (!at.take_digits(4, 4) || !at.take('-') || !at.take_digits(1, 2) || !at.take('-') ||
      !at.take_digits(1, 2))
    return false;
  if (at.done()) return text.size() == 10;  // without a time both parts have two digits
  if (!at.take_any("Tt ")) return false;
  at.take_all(" \t");
  return at.take_digits(1, 2) && at.take(':') && at.take_digits(2, 2) && at.take(':') &&
         at.take_digits(2, 2);
}

std::optional<bool> resolve_boolean(std::string_view text) {
  constexpr std::array yes = {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  constexpr std::array no = {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  if (std::find(yes.begin(), yes.end(), text) != yes.end()) return true;
  if (std::find(no.begin(), no.end(), text) != no.end()) return false;
  return std::nullopt;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

}  // namespace

Scalar resolve_plain(std::string_view text) {
  if (is_null(text)) return {ScalarType::null};
  if (const auto boolean = resolve_boolean(text))
    return {ScalarType::boolean, Notation::plain, *boolean};
  if (const auto integer = resolve_integer(text)) return *integer;
  if (const auto real = resolve_real(text)) return *real;
  return {is_date(text) ? ScalarType::date : ScalarType::text};
}

Scalar resolve(const Node& node) {
  if (node.kind == NodeKind::null) return {ScalarType::null};
  if (node.tag == "tag:yaml.org,2002:str") return {ScalarType::text};
  if (node.style == ScalarStyle::plain || !node.tag.empty()) return resolve_plain(node.text);
  return {ScalarType::text};
}

bool reads_as_null(const Node& node) {
  if (node.kind == NodeKind::scalar) return resolve(node).type == ScalarType::null;
  return node.kind == NodeKind::null;
}

const Member* find_given(const Node& mapping, std::string_view key) {
  const Member* member = mapping.find(key);
  return member == nullptr || reads_as_null(*member->value.node) ? nullptr : member;
}

}  // namespace cpplan::config
