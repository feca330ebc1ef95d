#include "diag/rule_table.hpp"

#include <algorithm>
#include <array>

#include "base/contract.hpp"

namespace cpplan::diag {
namespace {

constexpr Severity error = Severity::error, warning = Severity::warning, note = Severity::note;

// One row a line, sorted by id. Areas: CP0 syntax, CP1 keys and types, CP2 model, CP3 parallelism,
// CP4 memory, CP5 cluster and launch.
// clang-format off
constexpr std::array table = {
    Rule{"CP001", "yaml-syntax", error, "the file can be read as YAML 1.1"},
    Rule{"CP002", "tab-character", error, "spaces, never tabs, separate the tokens of YAML"},
    Rule{"CP003", "duplicate-key", error, "a key stands once in its mapping"},
    Rule{"CP004", "file-encoding", error, "the file is UTF-8 text without control characters"},
    Rule{"CP005", "invisible-character", error, "no invisible character stands outside quotes and comments"},
    Rule{"CP006", "undefined-alias", error, "an alias names an anchor that stands before it"},
    Rule{"CP007", "recursive-alias", error, "an anchor does not contain itself"},
    Rule{"CP008", "several-documents", error, "the file holds one document"},
    Rule{"CP009", "empty-config", error, "the file holds at least one setting"},
    Rule{"CP010", "root-not-mapping", error, "the top level of the file is a mapping of keys to values"},
    Rule{"CP011", "nesting-too-deep", error, "collections nest at most 100 levels deep"},
    Rule{"CP012", "unsupported-tag", error, "values carry only the tags of YAML's own types"},
    Rule{"CP013", "merge-value", error, "a merge key takes a mapping or a list of mappings"},
    Rule{"CP014", "key-not-scalar", error, "a key is a single word or text"},
    Rule{"CP101", "unknown-key", warning, "the framework knows the key"},
    Rule{"CP102", "unknown-cpplan-key", error, "a key below cpplan: is one that cpplan knows"},
    Rule{"CP103", "other-dialect-key", warning, "the key is spelled as the config's own framework spells it"},
    Rule{"CP104", "wrong-type", error, "a value has the type of its key"},
    Rule{"CP105", "missing-key", error, "the keys that the framework requires are given"},
    Rule{"CP106", "null-value", error, "null stands only where the framework takes it"},
    Rule{"CP107", "yaml-1.1-number", error, "a number is written so that every YAML reader reads the same"},
    Rule{"CP108", "octal-number", warning, "a number does not begin with a zero"},
    Rule{"CP109", "number-spelling", note, "a number is written without underscores, quotes or a bare exponent"},
    Rule{"CP110", "quoted-boolean", warning, "true and false stand without quotes"},
    Rule{"CP111", "date-value", warning, "text that looks like a date is quoted"},
    Rule{"CP112", "unknown-value", error, "a value is one of those that its key takes"},
    Rule{"CP113", "deprecated-key", warning, "a key has its present name"},
    Rule{"CP114", "removed-key", error, "the framework still accepts the key"},
    Rule{"CP115", "exclusive-keys", error, "keys that exclude each other do not stand together"},
    Rule{"CP116", "ignored-key", warning, "a setting has an effect"},
    Rule{"CP117", "number-too-large", error, "a number fits into 64 bits"},
    Rule{"CP118", "not-training-config", error, "the file is a training config"},
    Rule{"CP119", "number-range", error, "a size or a rate lies in the range that has a meaning"},
    Rule{"CP120", "batch-keys", error, "two of micro_batch_size, gradient_accumulation_steps and batch_size are given"},
    Rule{"CP121", "batch-size-meaning", warning, "batch_size is given through micro_batch_size and gradient_accumulation_steps"},
    Rule{"CP122", "quoted-degree", error, "a parallel degree that the framework compares early is not quoted"},
    Rule{"CP130", "override-syntax", error, "an override is key=value, and its value is YAML"},
};
// clang-format on

constexpr bool is_sorted_by_id() {
  for (std::size_t i = 1; i < table.size(); ++i)
    if (!(table[i - 1].id < table[i].id)) return false;
  return true;
}
static_assert(is_sorted_by_id(), "rows of the rule table are sorted and no id stands twice");

}  // namespace

std::span<const Rule> rules() {
  return table;
}

const Rule* find_rule(std::string_view id_or_name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Rule& rule) {
    return rule.id == id_or_name || rule.name == id_or_name;
  });
  return found == table.end() ? nullptr : &*found;
}

Diagnostic finding(std::string_view id, Span span, std::string message, Details details) {
  const Rule* rule = find_rule(id);
  expect(rule != nullptr, "a finding has a rule in the table");
  return {std::string(rule->id),      std::string(rule->name),  rule->severity,
          std::move(message),         std::move(details.label), std::move(span),
          std::move(details.related), std::move(details.why),   std::move(details.help)};
}

}  // namespace cpplan::diag
