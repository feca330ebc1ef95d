#pragma once
// Flags read from text: what a value may be, and what is said when it is not. No parser here.
#include <span>
#include <string>

#include "base/result.hpp"
#include "base/units.hpp"
#include "layout/ranks.hpp"
#include "plan/plan.hpp"

namespace cpplan::app {

/// A whole number from 1 on. Error: it is none.
Result<Index> parse_count(const std::string& text);

/// A number of seconds above 0. Error: it is none.
Result<double> parse_seconds(const std::string& text);

/// "axolotl@0.14", ... Error: no version that is known (with those that are).
Result<plan::Version> parse_version(const std::string& text);

/// "key=value" with a key. Error: it is not of that form.
Result<std::string> parse_assignment(const std::string& text);

/// One of `names`, by its place. Error: it is none of them (with the near ones).
Result<std::size_t> parse_choice(const std::string& text, std::span<const std::string> names);

}  // namespace cpplan::app
