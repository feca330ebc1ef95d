#include "config/check_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "config/coerce.hpp"
#include "config/yaml11.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

std::vector<std::string> split_choices(std::string_view choices) {
  std::vector<std::string> names;
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    names.emplace_back(choices.substr(0, bar));
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return names;
}

bool is_null(const Node& node) {
  if (node.is_mapping() || node.is_sequence()) return false;
  return resolve(node).type == ScalarType::null;
}

void complain(const std::optional<Complaint>& complaint, const Member& member,
              Diagnostics& findings) {
  if (!complaint) return;
  findings.push_back(finding(complaint->rule, place_of(member), complaint->message,
                             {.label = complaint->label, .why = complaint->why}));
}

void check_null(const KeyInfo& info, const std::string& key, const Member& member,
                Diagnostics& findings) {
  if (info.null == Null::unsets) return;
  const bool required = key == "base_model" || key == "learning_rate";
  if (required) {
    findings.push_back(
        finding("CP105", place_of(member),
                fmt::format("{} is required (null stands here). give it a value", key)));
    return;
  }
  findings.push_back(
      finding("CP106", place_of(member),
              fmt::format("{} takes no null (an empty value is null). remove the key for the "
                          "default, or give a value",
                          key),
              {.label = "null"}));
}

void check_choice(const KeyInfo& info, const std::string& key, const Member& member,
                  Diagnostics& findings) {
  const Reading<std::string> text = read_text(key, *member.value.node);
  if (!text.value) return complain(text.complaint, member, findings);
  const std::vector<std::string> choices = split_choices(info.choices);
  if (std::find(choices.begin(), choices.end(), *text.value) != choices.end()) return;
  const std::vector<std::string_view> candidates(choices.begin(), choices.end());
  const auto near = did_you_mean(*text.value, candidates, 1);
  const std::string also = info.kind == Kind::choice_or_boolean ? ", true or false" : "";
  findings.push_back(
      finding("CP112", place_of(member),
              fmt::format("{} takes {}{}, not \"{}\". write {}", key,
                          also.empty() ? join_words(choices, "or") : join(choices, ", "), also,
                          *text.value, near.empty() ? choices.front() : near.front())));
}

void check_choices(const KeyInfo& info, const std::string& key, const Member& member,
                   Diagnostics& findings) {
  if (!member.value.node->is_sequence()) return check_choice(info, key, member, findings);
  for (const Value& element : member.value.node->elements)
    check_choice(info, key, {member.key, member.key_span, element}, findings);
}

/// Text that is open to names of plug-ins: only what is nearly one of the usual names is a mistake.
void check_usual(const KeyInfo& info, const std::string& key, const Member& member,
                 Diagnostics& findings) {
  const Reading<std::string> text = read_text(key, *member.value.node);
  if (!text.value) return complain(text.complaint, member, findings);
  const std::vector<std::string> usual = split_choices(info.choices);
  if (std::find(usual.begin(), usual.end(), *text.value) != usual.end()) return;
  const std::vector<std::string_view> candidates(usual.begin(), usual.end());
  const auto near = did_you_mean(*text.value, candidates, 1);
  if (near.empty()) return;
  auto found = finding("CP112", place_of(member),
                       fmt::format("{} \"{}\" is not known (it is nearly {}). write {}", key,
                                   *text.value, near.front(), near.front()));
  found.severity = diag::Severity::warning;
  findings.push_back(std::move(found));
}

void check_kind(const std::string& key, const Member& member, NodeKind wanted,
                Diagnostics& findings) {
  const Node& node = *member.value.node;
  if (node.kind == wanted) return;
  const bool is_list = wanted == NodeKind::sequence;
  const std::string_view name = is_list ? "a list" : "a mapping";
  findings.push_back(
      finding("CP104", place_of(member),
              fmt::format("{} takes {} ({} stands here). {}", key, name, describe(node),
                          is_list ? "write each item on its own line after `- `"
                                  : "write `name: value` lines, indented below it"),
              {.label = fmt::format("{} is needed", name)}));
}

}  // namespace

diag::Span place_of(const Member& member) {
  const diag::Span& span = member.value.span;
  const bool is_empty = span.line == span.end_line && span.column == span.end_column;
  return is_empty && span.placed() ? member.key_span : span;
}

void check_date(const std::string& key, const Member& member, Diagnostics& findings) {
  const Node& node = *member.value.node;
  if (node.kind != NodeKind::scalar || resolve(node).type != ScalarType::date) return;
  findings.push_back(finding("CP111", member.value.span,
                             fmt::format("{0} is a date object, not text (YAML 1.1 reads it so). "
                                         "quote it: {1}: \"{0}\"",
                                         node.text, key),
                             {.label = "a date"}));
}

void check_value(const KeyInfo& info, const std::string& key, const Member& member,
                 Diagnostics& findings) {
  const Node& node = *member.value.node;
  if (!node.tag_is_supported) return;  // has a finding of its own
  if (is_null(node)) return check_null(info, key, member, findings);
  switch (info.kind) {
    case Kind::integer:
      return complain(read_integer(key, node).complaint, member, findings);
    case Kind::real:
      return complain(read_real(key, node).complaint, member, findings);
    case Kind::boolean:
      return complain(read_boolean(key, node).complaint, member, findings);
    case Kind::text:
      return check_usual(info, key, member, findings);
    case Kind::choice:
      return check_choice(info, key, member, findings);
    case Kind::choice_or_boolean:
      if (read_boolean(key, node).value) return;
      return check_choice(info, key, member, findings);
    case Kind::choices:
      return check_choices(info, key, member, findings);
    case Kind::list:
      return check_kind(key, member, NodeKind::sequence, findings);
    case Kind::mapping:
      return check_kind(key, member, NodeKind::mapping, findings);
    case Kind::any:
      return check_date(key, member, findings);
  }
}

}  // namespace cpplan::config
