#pragma once
// What rules share: numbers that would work, and how a finding points at two places.
#include <functional>
#include <string>
#include <vector>

#include "config/training_config.hpp"
#include "diag/rule_table.hpp"
#include "plan/plan.hpp"

namespace cpplan::rules {

/// Divisors of n next to `wanted`, the smaller first; up to `most` where that is not 0. n >= 1.
std::vector<Index> nearest_divisors(Index n, Index wanted, Index most = 0);

/// Of those, the nearest on both sides with which something works; 1 where no other does.
std::vector<Index> nearest_fitting(Index n, Index wanted, const std::function<bool(Index)>& works);

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

/// What the user wrote there could not be read, which is a finding of its own: a rule that would
/// judge the default in its place keeps silent.
template <class T>
bool is_unreadable(const config::Setting<T>& setting) {
  return !setting.given() && !setting.key.empty();
}

/// A finding in the making: report("CP301", place, problem).why(...).help(...).see(other).
class Report {
 public:
  Report(std::string_view id, const diag::Span& place, std::string message)
      : found_(diag::finding(id, place, std::move(message))) {}

  Report& why(std::string sentence) {
    found_.why = std::move(sentence);
    return *this;
  }
  Report& label(std::string words) {
    found_.label = std::move(words);
    return *this;
  }
  /// May be repeated: each names a value that would work. Empty ones are left out.
  Report& help(std::string suggestion) {
    if (!suggestion.empty()) found_.help.push_back(std::move(suggestion));
    return *this;
  }
  /// A setting that belongs to the finding, where the file has it.
  template <class T>
  Report& see(const config::Setting<T>& setting) {
    relate(found_.related, setting);
    return *this;
  }
  Report& as(diag::Severity severity) {
    found_.severity = severity;
    return *this;
  }
  void to(diag::Diagnostics& findings) { findings.push_back(std::move(found_)); }

 private:
  diag::Diagnostic found_;
};

/// A report at the value of a setting, or at the file where nothing gives it.
template <class T>
Report report(std::string_view id, const config::Setting<T>& blamed, std::string message) {
  return {id, blamed.span, std::move(message)};
}

/// The whole file, where nothing in it is to blame.
inline diag::Span file_of(const plan::Plan& plan) {
  return {plan.config.file};
}

inline diag::Diagnostic with_severity(diag::Diagnostic found, diag::Severity severity) {
  found.severity = severity;
  return found;
}

inline bool is_megatron(const plan::Plan& plan) {
  return plan.config.dialect == config::Dialect::megatron;
}

/// A setting's name as this file would spell it: as it does where it has the key, else by the
/// dialect; "--global-batch-size" in a map of Megatron's flags.
std::string spelled_by_dialect(const plan::Plan& plan, std::string_view megatron,
                               std::string_view axolotl = {});
template <class T>
std::string spelled(const plan::Plan& plan, const config::Setting<T>& setting,
                    std::string_view megatron, std::string_view axolotl = {}) {
  if (!setting.key.empty()) return setting.key;
  return spelled_by_dialect(plan, megatron, axolotl);
}

/// Micro-batches that one rank takes in a step: GBS / (micro * DP), else the accumulation. None
/// where they do not divide or do not fit 64 bits.
std::optional<Index> micro_batches(const plan::Plan& plan);

/// The framework stops in Megatron's dialect where our engine (and axolotl) only pad.
inline diag::Severity error_in_megatron(const plan::Plan& plan) {
  return plan.config.dialect == config::Dialect::megatron ? diag::Severity::error
                                                          : diag::Severity::warning;
}

}  // namespace cpplan::rules
