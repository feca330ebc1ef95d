#include "report/plan_env.hpp"

#include <algorithm>
#include <string_view>

#include "report/plan_value.hpp"

namespace cpplan::report {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Means itself in a shell, in every place of a word.
bool is_plain(char c) {
  constexpr std::string_view others = "_./:+-";
  return is_letter_or_digit(c) || others.find(c) != others.npos;
}

std::string shell_quoted(const std::string& text) {
  if (std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string variable_part(std::string_view name) {
  std::string part(name);
  for (char& c : part) {
    if (!is_letter_or_digit(c)) c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return part;
}

void append_variables(const Json& value, const std::string& name, std::string& lines) {
  if (value.is_array()) return;
  if (!value.is_object()) {
    lines += name + '=' + shell_quoted(value_text(value)) + '\n';
    return;
  }
  for (const auto& [member, child] : value.members())
    append_variables(child, name + '_' + variable_part(member), lines);
}

}  // namespace

std::string plan_env(const Json& document) {
  std::string lines;
  for (const auto& [section, value] : document.members()) {
    const std::string prefix = value.is_object() ? "CPPLAN" : "CPPLAN_" + variable_part(section);
    append_variables(value, prefix, lines);
  }
  return lines;
}

}  // namespace cpplan::report
