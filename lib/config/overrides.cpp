#include "config/overrides.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "config/source_checks.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;
using diag::Span;

const Span no_place{override_source};

void refuse(const Override& override, std::string_view why, Diagnostics& findings) {
  findings.push_back(finding("CP130", no_place,
                             fmt::format("--set {}={} ({}). write --set key=value, like --set "
                                         "micro_batch_size=2",
                                         override.key, override.value, why)));
}

/// Copies a parsed value into `document`, without places: a command line has none.
const Node* adopt(const Node& node, Document& document) {
  Node& copy = document.make_node(node.kind);
  copy.style = node.style;
  copy.text = node.text;
  copy.tag = node.tag;
  for (const Member& m : node.members)
    copy.members.push_back({m.key, no_place, {adopt(*m.value.node, document), no_place}});
  for (const Value& element : node.elements)
    copy.elements.push_back({adopt(*element.node, document), no_place});
  return &copy;
}

/// The value of one override; nullptr (and a finding) where it is no YAML.
const Node* read_value(const Override& override, Document& document, Diagnostics& findings) {
  // axolotl's command line takes the word for null.
  if (lower_case(override.value) == "none" || trimmed(override.value).empty())
    return &document.make_node(NodeKind::null);
  const bool holds_alias = override.value.find_first_of("&*") != std::string::npos;
  const diag::SourceFile source(override_source, override.value);
  Diagnostics problems;
  const bool readable = !holds_alias && check_encoding(source, problems);
  const Document parsed = readable ? parse_document(source, problems) : Document();
  if (parsed.root.node != nullptr && problems.empty()) return adopt(*parsed.root.node, document);
  if (holds_alias) {
    Node& text = document.make_node(NodeKind::scalar);
    text.style = ScalarStyle::quoted;
    text.text = override.value;
    return &text;
  }
  refuse(override, problems.empty() ? "the value is not readable" : problems.front().message,
         findings);
  return nullptr;
}

std::optional<std::size_t> index_of(std::string_view text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

/// A copy of `node` in which `path` holds `value`: nodes may be shared by aliases, so none changes.
/// nullptr where the path leads through something that is no mapping.
const Node* with_value(const Node* node, std::string_view path, const Node* value,
                       Document& document) {
  if (path.empty()) return value;
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view name = path.substr(0, dot);
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  const bool is_new = node == nullptr || node->is_null();
  if (name.empty() || (dot + 1 == path.size())) return nullptr;
  Node& copy = is_new ? document.make_node(NodeKind::mapping) : document.make_node(node->kind);
  if (!is_new) copy = *node;
  if (copy.is_sequence()) {
    const auto index = index_of(name);
    if (!index || *index >= copy.elements.size()) return nullptr;
    const Node* child = with_value(copy.elements[*index].node, rest, value, document);
    copy.elements[*index] = {child, no_place};
    return child == nullptr ? nullptr : &copy;
  }
  if (!copy.is_mapping()) return nullptr;
  const Member* member = copy.find(name);
  const Node* child = with_value(member ? member->value.node : nullptr, rest, value, document);
  if (child == nullptr) return nullptr;
  std::erase_if(copy.members, [&](const Member& m) { return m.key == name; });
  copy.members.push_back({std::string(name), no_place, {child, no_place}});
  return &copy;
}

}  // namespace

void apply_overrides(Document& document, std::span<const Override> overrides,
                     Diagnostics& findings) {
  for (const Override& override : overrides) {
    if (trimmed(override.key).empty()) {
      refuse(override, "the key is empty", findings);
      continue;
    }
    const Node* value = read_value(override, document, findings);
    if (value == nullptr) continue;
    const Node* root = with_value(document.root.node, trimmed(override.key), value, document);
    if (root != nullptr)
      document.root.node = root;
    else
      refuse(override, "the key leads through a value that is no mapping", findings);
  }
}

}  // namespace cpplan::config
