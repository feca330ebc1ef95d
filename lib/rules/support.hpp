#pragma once
// What rules share: numbers that would work, and how a finding points at two places.
#include <string>
#include <vector>

#include "config/training_config.hpp"
#include "diag/rule_table.hpp"
#include "plan/plan.hpp"

namespace cpplan::rules {

/// Divisors of n next to `wanted`, the smaller first; up to `most` where that is not 0. n >= 1.
std::vector<Index> nearest_divisors(Index n, Index wanted, Index most = 0);

/// Multiples of `unit` on both sides of `wanted`, the smaller first; none below `unit`.
std::vector<Index> nearest_multiples(Index unit, Index wanted);

/// "key: 4 or key: 8"
std::string choices(const std::string& key, const std::vector<Index>& values);

/// The key as the file spells it, or `fallback` where the file does not have it.
template <class T>
std::string key_of(const config::Setting<T>& setting, const char* fallback) {
  return setting.key.empty() ? fallback : setting.key;
}

/// "tensor_parallel_size is set here", where it is.
template <class T>
void relate(std::vector<diag::Related>& related, const config::Setting<T>& setting) {
  if (setting.span.placed()) related.push_back({setting.key + " is set here", setting.span});
}

/// The first of two places that there is.
inline diag::Span place_of(const diag::Span& wanted, const diag::Span& otherwise) {
  return wanted.placed() ? wanted : otherwise;
}

/// The whole file, where nothing in it is to blame.
inline diag::Span file_of(const plan::Plan& plan) {
  return {plan.config.file};
}

inline diag::Diagnostic with_severity(diag::Diagnostic found, diag::Severity severity) {
  found.severity = severity;
  return found;
}

/// The framework stops in Megatron's dialect where our engine (and axolotl) only pad.
inline diag::Severity error_in_megatron(const plan::Plan& plan) {
  return plan.config.dialect == config::Dialect::megatron ? diag::Severity::error
                                                          : diag::Severity::warning;
}

}  // namespace cpplan::rules
