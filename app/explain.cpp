#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "base/text.hpp"
#include "diag/render_rules.hpp"

namespace cpplan::app {
namespace {

/// Ids in any case, names with - or _.
const diag::Rule* find_rule(const std::string& word) {
  std::string upper = word, name = lower_case(word);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (char& c : name) c = c == '_' ? '-' : c;
  const diag::Rule* by_id = diag::find_rule(upper);
  return by_id ? by_id : diag::find_rule(name);
}

/// Names in which the word stands: "cp" and "divides" find cp-divides-sequence.
std::vector<std::string> names_with(std::string word) {
  for (char& c : word) c = c == '_' ? '-' : c;
  std::vector<std::string> names;
  for (const diag::Rule& rule : diag::rules())
    if (rule.name.find(word) != rule.name.npos && names.size() < 5) names.emplace_back(rule.name);
  return names;
}

std::string not_a_rule(const std::string& word) {
  std::vector<std::string_view> known;
  for (const diag::Rule& rule : diag::rules()) {
    known.push_back(rule.id);
    known.push_back(rule.name);
  }
  auto near = did_you_mean(word, known);
  if (near.empty()) near = names_with(lower_case(word));
  return fmt::format("there is no rule \"{}\". {}", word,
                     near.empty() ? "`cpplan rules` lists them"
                                  : fmt::format("did you mean {}?", join_words(near, "or")));
}

}  // namespace

int explain(const ExplainOptions& options) {
  const diag::Rule* rule = find_rule(options.rule);
  if (rule == nullptr) return usage_error("explain", not_a_rule(options.rule));
  fmt::print("{}", diag::render_page(*rule));
  return ok;
}

}  // namespace cpplan::app
