#include "cluster/variable_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "diag/rule_table.hpp"

namespace cpplan::cluster {

void VariableReader::report(const Variables::value_type& variable, std::string_view wanted) {
  const auto& [name, text] = variable;
  auto unreadable = diag::finding(
      "CP501", {}, fmt::format("{}=\"{}\" is ignored (it should be {})", name, text, wanted),
      {.why = "a launcher sets this variable; another form comes from a script or by hand",
       .help = {fmt::format("unset {}, or say the world size with --world-size N", name)}});
  const bool known = std::ranges::any_of(
      findings_, [&](const auto& finding) { return finding.message == unreadable.message; });
  if (!known) findings_.push_back(std::move(unreadable));
}

std::optional<Index> VariableReader::number(std::string_view name, Index least) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  std::string_view text = found->second;
  if (const auto colon = text.rfind(':'); colon != text.npos) text.remove_prefix(colon + 1);
  Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc{} && end == text.data() + text.size() && n >= least) return n;
  report(*found, fmt::format("a whole number of at least {}", least));
  return std::nullopt;
}

const Variables::value_type* VariableReader::first_set(
    std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto found = variables_.find(name); found != variables_.end()) return &*found;
  return nullptr;
}

std::optional<Index> VariableReader::count(std::string_view name) {
  return number(name, 1);
}

std::optional<Read> VariableReader::first_count(std::initializer_list<std::string_view> names) {
  const auto* set = first_set(names);
  const auto value = set ? number(set->first, 1) : std::nullopt;
  return value ? std::optional(Read{*value, set->first}) : std::nullopt;
}

std::optional<Read> VariableReader::first_rank(std::initializer_list<std::string_view> names) {
  const auto* set = first_set(names);
  const auto value = set ? number(set->first, 0) : std::nullopt;
  return value ? std::optional(Read{*value, set->first}) : std::nullopt;
}

std::vector<Index> VariableReader::tasks_per_node(std::string_view name) {
  const auto* set = first_set({name});
  if (!set) return {};
  auto tasks = parse_tasks_per_node(set->second);
  if (tasks) return std::move(*tasks);
  report(*set, "of the form 4(x2),3");
  return {};
}

std::vector<std::string> VariableReader::hosts(std::string_view name) {
  const auto* set = first_set({name});
  if (!set) return {};
  auto hosts = parse_node_list(set->second);
  if (hosts) return std::move(*hosts);
  report(*set, "of the form cp[1-3,7],gpu01");
  return {};
}

}  // namespace cpplan::cluster
