#include "config/check_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"
#include "config/check_value.hpp"
#include "config/schema.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

std::string dotted(std::string_view prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : fmt::format("{}.{}", prefix, key);
}

/// Every node that is part of one of `values`, each visited once, whatever the aliases.
std::unordered_set<const Node*> nodes_below(std::vector<Value> values) {
  std::unordered_set<const Node*> seen;
  while (!values.empty()) {
    const Node* node = values.back().node;
    values.pop_back();
    if (!seen.insert(node).second) continue;
    for (const Member& member : node->members) values.push_back(member.value);
    values.insert(values.end(), node->elements.begin(), node->elements.end());
  }
  return seen;
}

/// The spans of the keys of merged members tell where they were merged from.
bool is_merge_source(const Node& node, const std::unordered_set<const Node*>& used) {
  if (node.members.empty()) return false;
  return std::any_of(node.members.begin(), node.members.end(),
                     [&](const Member& m) { return used.contains(m.value.node); });
}

class KeyChecker {
 public:
  explicit KeyChecker(Diagnostics& findings) : findings_(findings) {}

  void check_top_level(const Node& root) {
    std::vector<Value> known_values;
    for (const Member& member : root.members)
      if (find_top_level(member.key) != nullptr) known_values.push_back(member.value);
    const auto used = nodes_below(known_values);
    for (const Member& member : root.members) {
      const KeyInfo* info = find_top_level(member.key);
      const Node& node = *member.value.node;
      if (info != nullptr)
        check_value(*info, member.key, member, findings_);
      else if (!used.contains(&node) && !is_merge_source(node, used))
        report_unknown(member);
    }
    check_nested(root);
  }

  /// Our own keys beside those of another dialect.
  void check_own(const Node& root) {
    if (const Member* degree = root.find("data_parallel_size"))
      check_value(*find_key(own_top_level_keys(), degree->key), degree->key, *degree, findings_);
    if (const Member* cpplan = root.find("cpplan")) {
      check_value(*find_key(own_top_level_keys(), "cpplan"), "cpplan", *cpplan, findings_);
      check_cpplan(*cpplan->value.node);
    }
  }

 private:
  static const KeyInfo* find_top_level(std::string_view key) {
    const KeyInfo* own = find_key(own_top_level_keys(), key);
    return own != nullptr ? own : find_key(axolotl_keys(), key);
  }

  void check_nested(const Node& root) {
    check_members(root, "fsdp_config", fsdp_keys());
    for (const std::string_view list : {"datasets", "test_datasets", "pretraining_dataset"})
      check_entries(root, list);
    for (const std::string_view key : {"overrides_of_model_config", "model_config"})
      if (const Member* model = root.find(key)) {
        check_free_members(*model->value.node, model->key, model_keys());
        check_rope(*model->value.node, model->key);
      }
    if (const Member* cpplan = root.find("cpplan")) check_cpplan(*cpplan->value.node);
  }

  /// A section whose unknown keys the framework drops.
  void check_members(const Node& root, std::string_view key, std::span<const KeyInfo> keys) {
    const Member* section = root.find(key);
    if (section == nullptr) return;
    for (const Member& member : section->value.node->members) check_nested_key(member, key, keys);
  }

  void check_nested_key(const Member& member, std::string_view prefix,
                        std::span<const KeyInfo> keys) {
    std::string_view name = member.key;
    const bool is_fsdp = prefix == "fsdp_config";
    // Old spellings, which have a finding of their own.
    if (is_fsdp && name.starts_with("fsdp_") && name != "fsdp_version") name.remove_prefix(5);
    if (is_fsdp && name == "version") return;
    const KeyInfo* info = find_key(keys, name);
    if (info != nullptr)
      check_value(*info, dotted(prefix, member.key), member, findings_);
    else
      report_unknown_in(member, prefix, "CP101", keys);
  }

  void check_entries(const Node& root, std::string_view list) {
    const Member* member = root.find(list);
    if (member == nullptr) return;
    const auto& elements = member->value.node->elements;
    for (std::size_t i = 0; i < elements.size(); ++i)
      for (const Member& entry : elements[i].node->members)
        check_nested_key(entry, fmt::format("{}[{}]", list, i), dataset_keys());
  }

  /// Any key may stand here; those that we read have a type.
  void check_free_members(const Node& section, std::string_view prefix,
                          std::span<const KeyInfo> keys) {
    for (const Member& member : section.members)
      if (const KeyInfo* info = find_key(keys, member.key))
        check_value(*info, dotted(prefix, member.key), member, findings_);
  }

  void check_rope(const Node& model, std::string_view prefix) {
    for (const std::string_view key : {"rope_scaling", "rope_parameters"})
      if (const Member* rope = model.find(key))
        check_free_members(*rope->value.node, dotted(prefix, key), rope_keys());
  }

  void check_cpplan(const Node& cpplan) {
    check_own_members(cpplan, "cpplan", cpplan_sections());
    const auto check_section = [&](std::string_view name, std::span<const KeyInfo> keys) {
      const Member* section = cpplan.find(name);
      if (section != nullptr) check_own_members(*section->value.node, dotted("cpplan", name), keys);
    };
    check_section("model", model_keys());
    if (const Member* model = cpplan.find("model")) check_rope(*model->value.node, "cpplan.model");
    check_section("cluster", cluster_keys());
    check_section("run", run_keys());
    check_section("launch", launch_keys());
  }

  void check_own_members(const Node& section, std::string_view prefix,
                         std::span<const KeyInfo> keys) {
    for (const Member& member : section.members) {
      const KeyInfo* info = find_key(keys, member.key);
      if (info != nullptr)
        check_value(*info, dotted(prefix, member.key), member, findings_);
      else
        report_unknown_in(member, prefix, "CP102", keys);
    }
  }

  void report_unknown(const Member& member) {
    check_date(member.key, member, findings_);
    if (const ForeignKey* foreign = find_foreign_key(member.key)) {
      report("CP103", member.key_span,
             fmt::format("\"{}\" is spelled as in {} (axolotl ignores it and its value). write {}",
                         member.key, foreign->framework, foreign->here),
             {.label = fmt::format("axolotl's name is {}", foreign->here)});
      return;
    }
    std::vector<std::string_view> candidates;
    for (const auto keys : {axolotl_keys(), own_top_level_keys()})
      for (const KeyInfo& key : keys) candidates.push_back(key.name);
    report_misspelled(member, "", "CP101", candidates,
                      "the framework drops unknown keys without a word");
  }

  void report_unknown_in(const Member& member, std::string_view prefix, std::string_view rule,
                         std::span<const KeyInfo> keys) {
    std::vector<std::string_view> candidates;
    for (const KeyInfo& key : keys) candidates.push_back(key.name);
    report_misspelled(member, prefix, rule, candidates,
                      rule == "CP102" ? "a misspelled setting would fall back to its default"
                                      : "the framework drops unknown keys without a word");
  }

  void report_misspelled(const Member& member, std::string_view prefix, std::string_view rule,
                         std::span<const std::string_view> candidates, std::string_view why) {
    std::vector<std::string> near;
    if (++unknown_ <= most_suggestions) near = did_you_mean(member.key, candidates);
    for (std::string& name : near) name = fmt::format("\"{}\"", name);
    const std::string question =
        near.empty() ? "" : fmt::format("did you mean {}?", join_words(near, "or"));
    const std::string where = prefix.empty() ? "" : fmt::format(" in {}", prefix);
    const std::string message =
        fmt::format("unknown key \"{}\"{} ({}). {}", member.key, where,
                    rule == "CP102" ? "nothing reads it" : "its value is ignored",
                    !question.empty() ? question : known_or_remove(rule, candidates));
    report(rule, member.key_span, message, {.label = question, .why = std::string(why)});
  }

  static std::string known_or_remove(std::string_view rule,
                                     std::span<const std::string_view> candidates) {
    if (rule != "CP102") return "remove it or correct its name";
    const std::vector<std::string> names(candidates.begin(), candidates.end());
    return fmt::format("known here: {}", join(names, ", "));
  }

  void report(std::string_view rule, const diag::Span& span, std::string message,
              diag::Details details = {}) {
    findings_.push_back(finding(rule, span, std::move(message), std::move(details)));
  }

  Diagnostics& findings_;
  std::size_t unknown_ = 0;
};

}  // namespace

void check_axolotl_keys(const Document& document, Diagnostics& findings) {
  KeyChecker(findings).check_top_level(*document.root.node);
}

void check_own_keys(const Node& root, Diagnostics& findings) {
  KeyChecker(findings).check_own(root);
}

}  // namespace cpplan::config
