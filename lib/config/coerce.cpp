#include "config/coerce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "config/yaml11.hpp"

namespace cpplan::config {
namespace {

/// Texts longer than this are shown by their beginning.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return fmt::format("\"{}\"", text);
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("\"{}...\"", text.substr(0, end));
}

/// Python's str.strip() for what occurs in practice, and the zero-width characters that have a
/// finding of their own.
std::string stripped(std::string_view text) {
  constexpr std::array odd = {"\xC2\xA0",     "\xE2\x80\x8B", "\xE2\x80\x8C", "\xE2\x80\x8D",
                              "\xEF\xBB\xBF", "\xE2\x81\xA0", "\xE3\x80\x80", "\xE2\x80\xAF"};
  for (bool again = true; again;) {
    text = trimmed(text);
    again = false;
    for (const std::string_view space : odd) {
      if (text.starts_with(space)) text.remove_prefix(space.size()), again = true;
      if (text.ends_with(space)) text.remove_suffix(space.size()), again = true;
    }
  }
  return std::string(text);
}

/// Python takes single underscores between digits.
bool has_proper_underscores(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '_' &&
        (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])))
      return false;
  return true;
}

enum class Parse { done, malformed, too_large };

/// int(text) of pydantic: sign, digits with single underscores, an optional ".0".
Parse parse_integer(std::string_view raw, Index& out) {
  std::string text = stripped(raw);
  if (!has_proper_underscores(text)) return Parse::malformed;
  std::erase(text, '_');
  if (const auto dot = text.find('.'); dot != text.npos && dot > 0 && dot + 1 < text.size() &&
                                       text.find_first_not_of('0', dot + 1) == text.npos)
    text.erase(dot);
  const char* first = text.data() + (text.starts_with('+') && text.size() > 1 ? 1 : 0);
  if (first != text.data() && *first == '-') return Parse::malformed;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), out);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument)
    return Parse::malformed;
  return error == std::errc() ? Parse::done : Parse::too_large;
}

std::optional<double> parse_real(std::string_view raw) {
  std::string text = stripped(raw);
  if (!has_proper_underscores(text)) return std::nullopt;
  std::erase(text, '_');
  const char* first = text.data() + (text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = text.find("e-") == text.npos ? HUGE_VAL : 0;
  return value;
}

Complaint wrong_type(std::string_view key, std::string_view wanted, std::string_view reason,
                     std::string_view suggestion) {
  return {"CP104", fmt::format("{} takes {} ({}). {}", key, wanted, reason, suggestion),
          fmt::format("{} is needed", wanted), ""};
}

std::string number_like(std::string_view wanted) {
  return fmt::format("write a number like {}", wanted == "an integer" ? "4" : "0.0001");
}

/// Why a text is no number, and what to write.
Complaint text_for_number(std::string_view key, std::string_view wanted, const Node& node) {
  const std::string text = stripped(node.text);
  const std::string lower = lower_case(text);
  const auto hash = text.find('#');
  if (text.empty())
    return wrong_type(key, wanted, "empty text stands here", "write a number or remove the key");
  if (lower == "none" || lower == "nil")
    return wrong_type(key, wanted, fmt::format("{} is text in YAML", text),
                      "write null, leave the value empty or remove the key");
  if (hash != text.npos && hash > 0)
    return wrong_type(
        key, wanted,
        fmt::format("a comment needs a space before its #, so the value is the text {}",
                    quoted(text)),
        fmt::format("write {} {}", text.substr(0, hash), text.substr(hash)));
  if (const auto real = parse_real(text); real && std::isfinite(*real)) {
    const bool whole = std::floor(*real) == *real && std::abs(*real) < 9e15;
    return wrong_type(
        key, wanted,
        whole ? fmt::format("{} is text in YAML 1.1 and a float in 1.2, never an integer", text)
              : fmt::format("{} is no integer", text),
        fmt::format("write {}", whole ? fmt::format("{:.0f}", *real)
                                      : fmt::format("{:.0f}", std::floor(*real))));
  }
  return wrong_type(key, wanted, fmt::format("{} is text", quoted(text)), number_like(wanted));
}

Complaint sexagesimal(std::string_view key, const Node& node, const Scalar& scalar) {
  return {"CP107",
          fmt::format("{} is {:.0f} in YAML 1.1 (base 60) and text in YAML 1.2. write {}: {:.0f}",
                      node.text, scalar.real, key, scalar.real),
          fmt::format("reads as {:.0f}", scalar.real), ""};
}

Complaint octal(std::string_view key, const Node& node, const Scalar& scalar) {
  std::string digits = node.text;
  digits.erase(0, digits.find_first_not_of("+-0_"));
  return {
      "CP108",
      fmt::format("{} is {} for the framework (a leading zero means octal in YAML 1.1). write "
                  "{}: {}, or {} if that is meant",
                  node.text, scalar.integer, key, scalar.integer, digits.empty() ? "0" : digits),
      fmt::format("reads as {}", scalar.integer), ""};
}

Complaint too_large(std::string_view key, const Node& node) {
  return {"CP117",
          fmt::format("{} is {} (it does not fit into 64 bits). write a smaller number", key,
                      node.text),
          "", ""};
}

std::optional<Complaint> underscored(std::string_view key, const Node& node, const Scalar& scalar) {
  if (node.text.find('_') == std::string::npos) return std::nullopt;
  return Complaint{"CP109",
                   fmt::format("{} is {} in YAML 1.1 (in YAML 1.2 it is text). write {}: {}",
                               node.text, scalar.integer, key, scalar.integer),
                   "", ""};
}

Reading<Index> from_integer(std::string_view key, const Node& node, const Scalar& scalar) {
  if (scalar.notation == Notation::sexagesimal) return {{}, sexagesimal(key, node, scalar)};
  if (!scalar.fits) return {{}, too_large(key, node)};
  if (scalar.notation == Notation::octal) return {scalar.integer, octal(key, node, scalar)};
  return {scalar.integer, underscored(key, node, scalar)};
}

std::string whole_number_near(std::string_view key, const Node& node, double value) {
  if (key == "warmup_steps" && value > 0 && value < 1)
    return fmt::format("write warmup_ratio: {} for a part of the steps", node.text);
  return fmt::format("write {:.0f} or {:.0f}", std::floor(value), std::ceil(value));
}

Reading<Index> from_real(std::string_view key, const Node& node, const Scalar& scalar) {
  if (!std::isfinite(scalar.real))
    return {{}, wrong_type(key, "an integer", node.text + " is not finite", "write a number")};
  if (std::floor(scalar.real) != scalar.real)
    return {{},
            wrong_type(key, "an integer", fmt::format("{} has a fraction", node.text),
                       whole_number_near(key, node, scalar.real))};
  if (std::abs(scalar.real) >= 9.2e18) return {{}, too_large(key, node)};
  return {static_cast<Index>(scalar.real), std::nullopt};
}

std::optional<Complaint> text_as_number(std::string_view key, const Node& node,
                                        std::string_view number) {
  if (node.style != ScalarStyle::plain)
    return Complaint{"CP109",
                     fmt::format("{} is quoted text (the framework converts it to a number). write "
                                 "{}: {}",
                                 quoted(node.text), key, number),
                     "", ""};
  // Spaces that are none: the character has a finding of its own.
  if (stripped(node.text) != node.text) return std::nullopt;
  return Complaint{"CP108",
                   fmt::format("{} is text in YAML 1.1 (a number does not begin with a zero), and "
                               "the framework reads {}. write {}: {}",
                               node.text, number, key, number),
                   fmt::format("reads as {}", number), ""};
}

Reading<Index> integer_from_text(std::string_view key, const Node& node) {
  Index value = 0;
  switch (parse_integer(node.text, value)) {
    case Parse::done:
      return {value, text_as_number(key, node, std::to_string(value))};
    case Parse::too_large:
      return {{}, too_large(key, node)};
    case Parse::malformed:
      break;
  }
  return {{}, text_for_number(key, "an integer", node)};
}

/// pydantic takes both; `false` at least means what it looks like.
Reading<Index> integer_from_boolean(std::string_view key, const Node& node, bool value) {
  const std::string is = fmt::format("{} is {} in YAML 1.1", node.text, describe(node));
  if (value) return {{}, wrong_type(key, "an integer", is, "write the number")};
  return {0,
          Complaint{"CP123",
                    fmt::format("{} takes an integer ({}, which the framework reads as 0). write "
                                "{}: 0, or remove the key",
                                key, is, key),
                    "reads as 0", ""}};
}

Reading<double> real_from_text(std::string_view key, const Node& node) {
  const std::optional<double> value = parse_real(node.text);
  if (!value) return {{}, text_for_number(key, "a number", node)};
  if (!std::isfinite(*value))
    return {{}, wrong_type(key, "a number", node.text + " is not finite", "write a finite one")};
  if (node.style != ScalarStyle::plain)
    return {value, text_as_number(key, node, stripped(node.text))};
  if (node.text.find_first_of("eE") == std::string::npos) return {value, std::nullopt};
  return {value,
          Complaint{"CP109",
                    fmt::format("{} is text in YAML 1.1 (a float has a dot and a signed exponent), "
                                "and the framework converts it to {}. nothing needs to change",
                                node.text, *value),
                    "", ""}};
}

Reading<std::string> no_text(std::string_view key, const Node& node, std::string_view is) {
  return {{},
          wrong_type(key, "text", fmt::format("{} is {} in YAML 1.1", node.text, is),
                     fmt::format("quote it: \"{}\"", node.text))};
}

std::optional<bool> lax_boolean(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const std::string_view yes : {"1", "on", "t", "true", "y", "yes"})
    if (lower == yes) return true;
  for (const std::string_view no : {"0", "off", "f", "false", "n", "no"})
    if (lower == no) return false;
  return std::nullopt;
}

Reading<bool> boolean_from_text(std::string_view key, const Node& node) {
  const std::optional<bool> value = lax_boolean(node.text);
  if (!value)
    return {{},
            wrong_type(key, "true or false", fmt::format("{} is text", quoted(node.text)),
                       "write true or false")};
  if (*value) return {value, std::nullopt};
  return {value, Complaint{"CP110",
                           fmt::format("{} is text (the framework's early checks take any text as "
                                       "true). write {}: false",
                                       quoted(node.text), key),
                           "text, not a boolean", ""}};
}

}  // namespace

std::string describe(const Node& node) {
  switch (node.kind) {
    case NodeKind::null:
      return "null";
    case NodeKind::sequence:
      return "a list";
    case NodeKind::mapping:
      return "a mapping";
    case NodeKind::scalar:
      break;
  }
  const Scalar scalar = resolve(node);
  switch (scalar.type) {
    case ScalarType::null:
      return "null";
    case ScalarType::boolean:
      return scalar.boolean ? "the boolean true" : "the boolean false";
    case ScalarType::integer:
      return fmt::format("the integer {}", node.text);
    case ScalarType::real:
      return fmt::format("the number {}", node.text);
    case ScalarType::date:
      return fmt::format("the date {}", node.text);
    case ScalarType::text:
      break;
  }
  return fmt::format("the text {}", quoted(node.text));
}

Reading<Index> read_integer(std::string_view key, const Node& node) {
  const std::string_view wanted = "an integer";
  if (node.kind != NodeKind::scalar)
    return {{}, wrong_type(key, wanted, describe(node) + " stands here", number_like(wanted))};
  const Scalar scalar = resolve(node);
  switch (scalar.type) {
    case ScalarType::integer:
      return from_integer(key, node, scalar);
    case ScalarType::real:
      return from_real(key, node, scalar);
    case ScalarType::text:
      return integer_from_text(key, node);
    case ScalarType::boolean:
      return integer_from_boolean(key, node, scalar.boolean);
    case ScalarType::null:
    case ScalarType::date:
      break;
  }
  return {{}, wrong_type(key, wanted, describe(node) + " stands here", number_like(wanted))};
}

Reading<double> read_real(std::string_view key, const Node& node) {
  const std::string_view wanted = "a number";
  if (node.kind != NodeKind::scalar)
    return {{}, wrong_type(key, wanted, describe(node) + " stands here", number_like(wanted))};
  const Scalar scalar = resolve(node);
  if (scalar.type == ScalarType::text) return real_from_text(key, node);
  if (scalar.type == ScalarType::integer) {
    if (scalar.notation == Notation::sexagesimal) return {{}, sexagesimal(key, node, scalar)};
    if (scalar.notation == Notation::octal) return {scalar.real, octal(key, node, scalar)};
    return {scalar.real, std::nullopt};
  }
  if (scalar.type == ScalarType::real && std::isfinite(scalar.real))
    return {scalar.real, std::nullopt};
  const bool infinite = scalar.type == ScalarType::real;
  return {{},
          wrong_type(key, wanted,
                     infinite ? node.text + " is not finite" : describe(node) + " stands here",
                     "write a finite one")};
}

Reading<bool> read_boolean(std::string_view key, const Node& node) {
  if (node.kind == NodeKind::scalar) {
    const Scalar scalar = resolve(node);
    if (scalar.type == ScalarType::boolean) return {scalar.boolean, std::nullopt};
    if (scalar.type == ScalarType::text) return boolean_from_text(key, node);
    const bool number = scalar.type == ScalarType::integer || scalar.type == ScalarType::real;
    if (number && (scalar.real == 0 || scalar.real == 1)) return {scalar.real == 1, std::nullopt};
  }
  return {{},
          wrong_type(key, "true or false", describe(node) + " stands here", "write true or false")};
}

Reading<std::string> read_text(std::string_view key, const Node& node) {
  if (node.kind != NodeKind::scalar)
    return {{}, wrong_type(key, "text", describe(node) + " stands here", "write one word or text")};
  switch (const Scalar scalar = resolve(node); scalar.type) {
    case ScalarType::boolean:
      return no_text(key, node, describe(node));
    case ScalarType::integer:
    case ScalarType::real:
      return no_text(key, node, "a number");
    case ScalarType::date:
      return no_text(key, node, "a date");
    case ScalarType::null:
    case ScalarType::text:
      break;
  }
  return {node.text, std::nullopt};
}

}  // namespace cpplan::config
