#include "config/section.hpp"

#include <algorithm>

#include "config/coerce.hpp"
#include "config/yaml11.hpp"

namespace cpplan::config {
namespace {

template <class T>
void place(Setting<T>& setting, const Member& member, std::string key) {
  setting.key = std::move(key);
  setting.span = member.value.span;
  setting.key_span = member.key_span;
  setting.value.reset();
}

/// Items of a list, and the words of a text.
std::vector<std::string> words_of(const Node& node) {
  std::vector<std::string> words;
  if (node.is_sequence()) {
    for (const Value& element : node.elements)
      if (element.node->kind == NodeKind::scalar) words.push_back(element.node->text);
    return words;
  }
  constexpr std::string_view separators = " \t\n,[]()";
  const std::string_view text = node.text;
  for (std::size_t at = text.find_first_not_of(separators); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

std::optional<Index> integer_of(const std::string& word) {
  Node node;
  node.kind = NodeKind::scalar;
  node.text = word;
  return read_integer("", node).value;
}

}  // namespace

void read_setting(Setting<Index>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (!reads_as_null(node)) setting.value = read_integer(setting.key, node).value;
}

void read_setting(Setting<double>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (!reads_as_null(node)) setting.value = read_real(setting.key, node).value;
}

void read_setting(Setting<bool>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (!reads_as_null(node)) setting.value = read_boolean(setting.key, node).value;
}

void read_setting(Setting<std::string>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (!reads_as_null(node)) setting.value = read_text(setting.key, node).value;
}

void read_setting(Setting<std::vector<Index>>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (reads_as_null(node) || node.is_mapping()) return;
  std::vector<Index> numbers;
  for (const std::string& word : words_of(node)) {
    const auto number = integer_of(word);
    if (!number) return;
    numbers.push_back(*number);
  }
  setting.value = std::move(numbers);
}

void read_setting(Setting<std::vector<std::string>>& setting, const Member& member,
                  std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (!reads_as_null(node) && !node.is_mapping()) setting.value = words_of(node);
}

void read_presence(Setting<bool>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (reads_as_null(node)) return;
  const bool is_collection = node.is_mapping() || node.is_sequence();
  setting.value = is_collection ? !node.members.empty() || !node.elements.empty()
                                : !node.text.empty() && read_boolean("", node).value.value_or(true);
}

void read_word(Setting<std::string>& setting, const Member& member, std::string key) {
  place(setting, member, std::move(key));
  const Node& node = *member.value.node;
  if (node.kind != NodeKind::scalar || reads_as_null(node)) return;
  const Scalar scalar = resolve(node);
  setting.value =
      scalar.type == ScalarType::boolean ? (scalar.boolean ? "true" : "false") : node.text;
}

const Member* Section::find(std::string_view key) const {
  return mapping_ == nullptr ? nullptr : mapping_->find(key);
}

Section Section::below(std::string_view key) const {
  const Member* member = find(key);
  const bool there = member != nullptr && member->value.node->is_mapping();
  return {there ? member->value.node : nullptr, dotted(key) + "."};
}

void Section::read_presence(Setting<bool>& setting, std::string_view key) const {
  const Member* member = find(key);
  if (member != nullptr && !setting.given()) config::read_presence(setting, *member, dotted(key));
}

void Section::read_word(Setting<std::string>& setting, std::string_view key) const {
  if (const Member* member = find(key)) config::read_word(setting, *member, dotted(key));
}

}  // namespace cpplan::config
