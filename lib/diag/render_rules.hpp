#pragma once
// The rules themselves for people and programs: the page of one, and the list of all.
#include <string>

#include "base/json.hpp"
#include "diag/pages.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::diag {

/// What a rule checks, why, an example that breaks it and one that does not, and its source.
std::string render_page(const Rule& rule);

/// One line a rule, aligned, with a heading an area.
std::string render_rules();

/// {"schema": "cpplan/rules/1", "rules": [{id, name, severity, summary, why, wrong, right,
/// source}]}
Json rules_json();

/// docs/rules.md: a table of all rules and the page of each.
std::string rules_markdown();

}  // namespace cpplan::diag
