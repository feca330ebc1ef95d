#pragma once
// Every rule of the program: the id and name that people quote, and how bad breaking it is.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"

namespace cpplan::diag {

struct Rule {
  std::string_view id;    // "CP301"; never reused
  std::string_view name;  // "cp-divides-sequence"
  Severity severity;
  std::string_view summary;  // one line: what must hold
};

/// Sorted by id.
std::span<const Rule> rules();

/// By id or by name; nullptr where there is none.
const Rule* find_rule(std::string_view id_or_name);

/// What a finding may say beyond its message.
struct Details {
  std::string label = {};
  std::string why = {};
  std::vector<std::string> help = {};
  std::vector<Related> related = {};
};

/// A finding of rule `id`; name and severity come from the table. Contract: the rule exists.
Diagnostic finding(std::string_view id, Span span, std::string message, Details details = {});

}  // namespace cpplan::diag
